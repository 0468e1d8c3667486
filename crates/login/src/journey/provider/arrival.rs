//! Somebody who has come from a provider, until their session begins: a sealed row, named in the
//! interaction.
//!
//! Nothing of it is in the account before the session has begun: a link, groups, a profile are for
//! who has shown everything that is asked of them, and the provider's word is the first half.
use serde::{Deserialize, Serialize};
use signet_crypto::seal::Purpose;
use signet_oauth::authorize::acr;
use signet_oauth::people::provider::Provider;
use signet_store::{Change, Key, Op, StoreError, Table};

use crate::failure::Failure;
use crate::freshness::{self, Fresh};
use signet_audit::Action;
use signet_directory::session::Upstream;
use signet_directory::{Linked, UpstreamLink, User, UserDraft};
use signet_federation::Mapped;
use signet_federation::upstream::Person;
use signet_federation::upstream_tokens;
use signet_request::browser_request::{Arrived, BrowserRequest};
use signet_request::interaction::{Arrival, Interaction};
use signet_request::security_mail::{self, SecurityEvent};

const ROW: Purpose = Purpose::Other("provider-arrival");
const TAKEN: &str = "provider-taken";

/// What is remembered of somebody who arrived.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) issuer: String,
    pub(super) person: Person,
}

impl Stored {
    pub(super) fn link(&self, provider: &Provider, now: u64) -> UpstreamLink {
        UpstreamLink {
            provider: provider.name.clone(),
            issuer: self.issuer.clone(),
            subject: self.person.subject.clone(),
            name: self
                .person
                .username
                .clone()
                .or_else(|| self.person.email.clone()),
            linked_at: now,
        }
    }
}

fn row_key(id: &[u8; 16]) -> Key {
    Key::new(Table::Once, [b"provider arrival ".as_slice(), id].concat())
}

/// Remembers somebody for the rest of an interaction.
pub(super) async fn keep(
    browser: &BrowserRequest,
    interaction: &mut Interaction,
    provider: &Provider,
    person: Person,
) -> Result<Stored, StoreError> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let keyring = realm.keyring().clone();
    let sealing = |_| StoreError::Unavailable("a login could not be sealed".to_owned());
    let stored = Stored {
        issuer: provider.issuer.clone(),
        person,
    };
    let id: [u8; 16] = signet_crypto::random::bytes();
    // Invariant: JSON of JSON always serializes.
    let plain = serde_json::to_vec(&stored).unwrap_or_default();
    let insert = Op::Insert {
        key: row_key(&id),
        value: keyring.seal_with(ROW, &id, &plain).map_err(sealing)?,
        end: Some(interaction.ends_at.max(now + 1)),
    };
    realm.store.commit(Change::new(insert), now).await?;
    interaction.arrival = Some(Arrival {
        provider: provider.name.clone(),
        id,
        link: false,
        account: None,
    });
    Ok(stored)
}

/// Who arrived in this interaction; none where nobody did, or where their provider is gone.
pub(super) async fn load(
    browser: &BrowserRequest,
    interaction: &Interaction,
) -> Result<Option<(std::sync::Arc<Provider>, Stored)>, StoreError> {
    let Some(arrival) = &interaction.arrival else {
        return Ok(None);
    };
    let providers = &browser.context.snapshot.registry.providers;
    let Some(provider) = providers.usable(&arrival.provider).cloned() else {
        return Ok(None);
    };
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let Some(row) = realm.store.get(&row_key(&arrival.id), now).await? else {
        return Ok(None);
    };
    let plain = realm.keyring().open_with(ROW, &arrival.id, &row.value);
    let corrupt = || StoreError::Corrupt("a login at a provider".to_owned());
    let plain = plain.map_err(|_| corrupt())?;
    let stored: Stored = serde_json::from_slice(&plain).map_err(|_| corrupt())?;
    Ok((stored.issuer == provider.issuer).then_some((provider, stored)))
}

/// What a login takes over of somebody who arrived.
pub(crate) struct Brought {
    /// The methods that the person has shown there, as far as the provider is believed: names of
    /// [`acr::METHODS`].
    pub(crate) believed: Vec<&'static str>,
    /// When they were shown, Unix seconds.
    pub(crate) at: u64,
    /// The account's record as it will be after the login; none: as it is.
    pub(crate) user: Option<User>,
}

/// Hands the session that is about to begin what it takes over of the provider's. Of somebody who
/// arrived for another account there is nothing.
pub(crate) async fn bring(
    browser: &mut BrowserRequest,
    interaction: &Interaction,
    user: &User,
) -> Result<Brought, StoreError> {
    let now = browser.context.now();
    let arrival = interaction.arrival.as_ref();
    let arrival = arrival.filter(|arrival| arrival.is_of(&user.id));
    let found = match arrival {
        Some(_) => load(browser, interaction).await?,
        None => None,
    };
    let (Some(arrival), Some((provider, stored))) = (arrival, found) else {
        return Ok(Brought {
            believed: Vec::new(),
            at: now,
            user: None,
        });
    };
    // Of a person who proves the account here, how they did that is what counts.
    let proves_here = arrival.proves_here();
    let believed = match provider.trust_acr && !proves_here {
        true => shown_there(&stored.person.amr),
        false => Vec::new(),
    };
    let auth_time = stored.person.auth_time.filter(|_| !proves_here);
    let brought = Brought {
        believed,
        at: auth_time.map_or(now, |at| at.min(now)),
        user: mapped(browser, user, &provider, &stored.person).map(|(_, user)| user),
    };
    browser.arrived = Some(Arrived {
        auth_time,
        upstream: Upstream {
            provider: provider.name.clone(),
            issuer: stored.issuer,
            subject: stored.person.subject,
            sid: stored.person.sid,
            sealed_id_token: stored.person.sealed_id_token,
        },
    });
    Ok(brought)
}

/// The account's record as it will be after the login of somebody who arrived.
pub(crate) async fn as_will_be(
    browser: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
) -> Result<User, StoreError> {
    let arrival = interaction.arrival.as_ref();
    if arrival.is_none_or(|arrival| !arrival.is_of(&user.id)) {
        return Ok(user.clone());
    }
    let found = load(browser, interaction).await?;
    let changed = found
        .and_then(|(provider, stored)| mapped(browser, user, &provider, &stored.person))
        .map(|(_, user)| user);
    Ok(changed.unwrap_or_else(|| user.clone()))
}

/// Values of RFC 8176 as the methods that they say: what they do not say for certain counts for
/// nothing.
fn shown_there(amr: &[String]) -> Vec<&'static str> {
    let says = |value: &str| amr.iter().any(|said| said == value);
    let mut shown = Vec::new();
    if says("pwd") {
        shown.push("password");
    }
    if says("otp") {
        shown.push("totp");
    }
    match (says("hwk"), says("swk"), says("user")) {
        (true, _, true) => shown.push("passkey_bound"),
        (true, _, false) => shown.push("security_key"),
        (false, true, true) => shown.push("passkey_synced"),
        (false, true, false) => shown.push("security_key_synced"),
        (false, false, _) => {}
    }
    shown.retain(|name| acr::METHODS.iter().any(|method| method.name == *name));
    shown
}

/// After the login of an interaction, when everything was shown that is asked for: the link that
/// the person came for, and what is taken over of the provider's. `since`: when the login began,
/// Unix seconds.
pub(crate) async fn complete(
    browser: &mut BrowserRequest,
    interaction: &mut Interaction,
    since: u64,
) -> Result<(), Failure> {
    let found = load(browser, interaction).await?;
    let (Some(arrival), Some((provider, stored))) = (interaction.arrival.take(), found) else {
        return Ok(());
    };
    let Some(present) = browser.present().cloned() else {
        return Ok(());
    };
    if !arrival.is_of(&present.user.id) {
        return Ok(());
    }
    let user = if arrival.link {
        let fresh = match arrival.proves_here() {
            true => freshness::since(&browser.context, &present, since),
            false => freshness::since_arrival(&browser.context, &present, since),
        };
        let fresh = fresh.ok_or(Failure::LoginRequired)?;
        link(browser, &fresh, &provider, &stored).await?
    } else {
        take_over(browser, &present.user, &provider, &stored.person).await?
    };
    browser.see(user);
    Ok(())
}

/// Links somebody who arrived to an account whose owner is there, and tells them.
pub(super) async fn link(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    provider: &Provider,
    stored: &Stored,
) -> Result<User, Failure> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let (user, wanted) = (fresh.user(), stored.link(provider, now));
    let linked = async {
        let users = &realm.people.users;
        match users.link(&user.id, &wanted, now).await? {
            Linked::Done(user) => {
                security_mail::send(browser, &user, SecurityEvent::ProviderLinked).await;
                take_over(browser, &user, provider, &stored.person).await
            }
            Linked::Taken => Err(Failure::Invalid(TAKEN)),
        }
    };
    let event = browser
        .context
        .event(Action::ACCOUNT)
        .operation("provider-link");
    let event = event.subject(&user.id).target(&provider.name);
    realm.audit().act(event, linked, Failure::code).await
}

/// What is taken over of the provider's at each login: its refresh token, and what the record's
/// tables say of its claims.
async fn take_over(
    browser: &BrowserRequest,
    user: &User,
    provider: &Provider,
    person: &Person,
) -> Result<User, Failure> {
    upstream_tokens::arrived(&browser.context.realm, &user.id, provider, person).await?;
    let Some((mapped, _)) = mapped(browser, user, provider, person) else {
        return Ok(user.clone());
    };
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let until = groups_until(browser);
    let change = |draft: &mut UserDraft| mapped.put(&mut draft.user, until);
    Ok(users.change(&user.id, now, change).await?)
}

/// Until when groups of a login now count, Unix seconds.
fn groups_until(browser: &BrowserRequest) -> u64 {
    let lifetime = browser.context.snapshot.settings.provider_groups_lifetime;
    browser.context.now().saturating_add(lifetime)
}

/// What the record's tables make of the claims, and of the account. None: it stays as it is.
fn mapped(
    browser: &BrowserRequest,
    user: &User,
    provider: &Provider,
    person: &Person,
) -> Option<(Mapped, User)> {
    let schema = &browser.context.snapshot.registry.people;
    let mapped = Mapped::of(provider, person, |name| {
        schema.attributes.get(name).cloned()
    });
    let mut wanted = user.clone();
    mapped.put(&mut wanted, groups_until(browser));
    // Of a directory's person the directory says it.
    (wanted != *user && user.link.is_none()).then_some((mapped, wanted))
}
