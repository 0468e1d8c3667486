//! Mails: durable before the request that causes one is answered, and sent again while the server
//! that takes them is out of reach: for a day at the longest, and no longer than what they say is
//! good.
//!
//! A mail has links and codes in it, so what it says lies sealed.
use std::time::Duration;

use serde::{Deserialize, Serialize};
use signet_audit::{Action, Event};
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;
use signet_mail::{Content, MailError, Picture};
use signet_outbox::{Bounds, Claimed, Item, Kind, Queue, Sent, State, attempt};
use signet_pages::Letter;
use signet_store::{Change, StoreError, StoreFuture};

use crate::state::Realm;

const SEALED: Purpose = Purpose::Other("mail");
/// For how long a claimed mail is this node's, seconds, and how long an attempt may take: a server
/// that takes mails may let its peer wait on purpose.
const LEASE: u64 = 120;
const TAKES: u64 = 70;
const LONGEST: Duration = Duration::from_secs(60);

/// Mails that one node hands to the SMTP server at once
const MAX_MAILS_AT_ONCE: usize = 16;

static MAILS: Queue<Mail> = Queue::new("mail");

/// What a row says.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Mail {
    /// Whose account it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// Its name in the audit trail.
    operation: String,
    /// Until when what it says is good, Unix seconds.
    expires_at: u64,
    /// [`Sealed`], of the sealing keys. None: nothing goes out, see [`decoy`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    to: String,
    subject: String,
    text: String,
    html: String,
}

/// See the module.
pub(super) struct Mails;

/// A mail that has not gone out yet. Times are Unix seconds. What it says is not among it.
#[derive(Debug)]
pub struct WaitingMail {
    /// The same at every attempt.
    pub id: String,
    /// Its name in the audit trail.
    pub operation: String,
    /// Whose account it is about, where there is one.
    pub user_id: Option<String>,
    /// When it was made.
    pub made_at: u64,
    /// Until when what it says is good.
    pub expires_at: u64,
    /// How often it was sent.
    pub attempts: u32,
    /// The result of the last attempt.
    pub last: Option<String>,
    /// When it was last sent.
    pub last_at: Option<u64>,
}

/// A page of the mails that wait, after this row. Also says where the next page begins; none: this
/// was the last.
///
/// # Errors
/// The store's.
pub async fn waiting(
    realm: &Realm,
    after: Option<&str>,
    limit: usize,
) -> Result<(Vec<WaitingMail>, Option<String>), StoreError> {
    let page = MAILS.page(&*realm.store, after, limit, realm.now());
    let (items, next) = page.await?;
    // A decoy is nobody's mail.
    let real = items.into_iter().filter(|item| item.what.sealed.is_some());
    let waiting = real.map(|item| WaitingMail {
        id: item.id,
        operation: item.what.operation,
        user_id: item.what.user_id,
        made_at: item.made_at,
        expires_at: item.what.expires_at,
        attempts: item.attempts,
        last: item.last,
        last_at: item.last_at,
    });
    Ok((waiting.collect(), next))
}

/// What a letter is, beside what it says.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    /// Whose account it is about, where there is one.
    pub user_id: Option<&'a str>,
    /// The address.
    pub to: &'a str,
    /// Its name in the audit trail.
    pub what: &'a str,
    /// Until when what it says is good, Unix seconds: it is not sent after that.
    pub expires_at: u64,
}

/// Puts a mail there. Where this node writes mails into files, it is written when this returns; an
/// SMTP server takes it a moment later. Where it stands, and whether nothing has failed so far.
///
/// # Errors
/// The store's: then nothing is there.
pub(crate) async fn put(
    realm: &Realm,
    mail: &Sending<'_>,
    letter: &Letter,
) -> Result<(State, bool), StoreError> {
    let sealed = seal(&realm.keyring(), mail.to, letter)?;
    let what = Mail {
        user_id: mail.user_id.map(str::to_owned),
        operation: mail.what.to_owned(),
        expires_at: mail.expires_at,
        sealed: Some(sealed),
    };
    let (store, now) = (&*realm.store, realm.now());
    let item = Item::new(what, now);
    let is_at_hand = realm.people.mailer.as_ref().is_some_and(|m| m.is_at_hand());
    if !is_at_hand {
        queue(realm, &item, now).await?;
        return Ok((State::Waiting, true));
    }
    let claimed: Claimed<Mail> = MAILS.put_claimed(store, item, LEASE, now).await?;
    let state = attempt(&Mails, realm, &claimed).await?;
    Ok((state, state == State::Delivered))
}

/// What [`put`] costs, where nobody is written to: so that the time of an answer does not tell
/// whether a name has an account.
///
/// # Errors
/// The store's.
pub(crate) async fn decoy(realm: &Realm) -> Result<(), StoreError> {
    let now = realm.now();
    let nothing = Mail {
        user_id: None,
        operation: String::new(),
        expires_at: now,
        sealed: None,
    };
    queue(realm, &Item::new(nothing, now), now).await
}

async fn queue(realm: &Realm, item: &Item<Mail>, now: u64) -> Result<(), StoreError> {
    let put = MAILS.put(item, now, now);
    realm.store.commit(Change::new(put), now).await?;
    realm.outgoing.notify_one();
    Ok(())
}

fn seal(keyring: &Keyring, to: &str, letter: &Letter) -> Result<String, StoreError> {
    let open = Sealed {
        to: to.to_owned(),
        subject: letter.subject.clone(),
        text: letter.text.clone(),
        html: letter.html.clone(),
    };
    // Invariant: strings always serialize.
    let open = serde_json::to_vec(&open).expect("a mail serializes");
    let sealed = keyring.seal(SEALED, &open);
    let sealed = sealed.map_err(|_| StoreError::Corrupt("a mail could not be sealed".into()))?;
    Ok(base64url::encode(&sealed))
}

fn open(keyring: &Keyring, sealed: &str) -> Option<Sealed> {
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let open = keyring.open(SEALED, &sealed).ok()?;
    serde_json::from_slice(&open).ok()
}

impl Kind for Mails {
    type Context = Realm;
    type What = Mail;

    fn name(&self) -> &'static str {
        "mail"
    }

    fn queue(&self) -> &'static Queue<Mail> {
        &MAILS
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            held: 1_024,
            held_of_receiver: 1_024,
            at_once: MAX_MAILS_AT_ONCE,
            at_once_of_receiver: MAX_MAILS_AT_ONCE,
            lease: LEASE,
            takes: TAKES,
            // A day, with these pauses; most of what mails say is good for less.
            attempts: 100,
            longest_pause: 900,
            put_off: u64::MAX,
            put_off_because: "put off: the mail server cannot be reached",
            given_up_because: "the mail server could not be reached",
        }
    }

    fn receiver<'a>(&self, item: &'a Item<Mail>) -> Option<&'a str> {
        // All go to the one server that takes them.
        item.what.sealed.is_some().then_some("smtp")
    }

    fn expires_at(&self, item: &Item<Mail>) -> Option<u64> {
        item.what.sealed.is_some().then_some(item.what.expires_at)
    }

    fn send<'a>(&'a self, realm: &'a Realm, item: &'a Item<Mail>) -> StoreFuture<'a, Sent> {
        Box::pin(async move {
            let Some(sealed) = &item.what.sealed else {
                return Ok(Sent::Dropped);
            };
            let Some(mailer) = &realm.people.mailer else {
                return Ok(Sent::Hopeless("this server sends no mail".to_owned()));
            };
            let Some(mail) = open(&realm.keyring(), sealed) else {
                return Ok(Sent::Hopeless("its sealing key is gone".to_owned()));
            };
            let content = Content {
                subject: &mail.subject,
                text: &mail.text,
                html: Some(&mail.html),
                picture: signet_pages::carried_picture(&mail.html, realm.people.brands.own())
                    .map(|(media_type, bytes)| Picture { media_type, bytes }),
            };
            let sent = mailer.send(&mail.to, content, realm.now_ms());
            let sent = tokio::time::timeout(LONGEST, sent).await;
            let sent = sent.unwrap_or_else(|_| Err(MailError::Send("it took too long".into())));
            realm.host.metrics.mail(sent.is_ok());
            let what = &*item.what.operation;
            Ok(match sent {
                Ok(()) => {
                    // Of the first attempt whoever made the mail has a record.
                    if item.attempts > 0 {
                        record(realm, &item.what, None);
                    }
                    Sent::Delivered
                }
                Err(error) => {
                    tracing::error!(%error, what, "failed to send a mail");
                    match error {
                        MailError::To => Sent::Hopeless("the address is none".to_owned()),
                        _ => Sent::Refused("it could not be handed over".to_owned()),
                    }
                }
            })
        })
    }

    fn give_up<'a>(
        &'a self,
        realm: &'a Realm,
        item: &'a Item<Mail>,
        change: StoreFuture<'a, bool>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let given_up = change.await?;
            if given_up && item.what.sealed.is_some() {
                record(realm, &item.what, Some("not_delivered"));
            }
            Ok(given_up)
        })
    }
}

fn record(realm: &Realm, mail: &Mail, refused: Option<&'static str>) {
    let event = Event::new(Action::MAIL, realm.now_ms()).operation(&mail.operation);
    let event = match &mail.user_id {
        Some(user_id) => event.subject(user_id),
        None => event,
    };
    realm.audit().record(match refused {
        None => event.happened(),
        Some(why) => event.refused(why),
    });
}
