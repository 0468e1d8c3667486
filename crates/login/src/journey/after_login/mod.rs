//! What is offered to a person after a login, on a page between it and what it was for: one row a
//! thing in [`OFFERS`].
//!
//! Whoever declines is not asked again for a while: a row of the store says so, for the account in
//! all its browsers. An offer never stands in anybody's way: its page has one button that goes on.

mod passkey;

use signet_crypto::hash::sha256;
use signet_directory::User;
use signet_oauth::params::Params;
use signet_store::{Change, Key, Op, StoreError, Table};

use super::method::Answer;
use super::next::{ACTION, Journey, Next};
use signet_pages::{Html, Notice};
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::interaction::{Interaction, Page, Pending};

/// For how long something that was declined is not offered again, in seconds.
pub const DECLINED_FOR: u64 = 90 * 86_400;

/// Everything that is offered, first come first.
pub const OFFERS: &[Offer] = &[passkey::OFFER];

/// Something that is offered.
pub struct Offer {
    /// Names it in the sealed state, in the row of who declined it, and in the button `decision`
    /// that accepts it.
    pub name: &'static str,
    /// Whether there is anything to offer to this person in this browser. The form is the one that
    /// ended the login.
    pub applies: fn(&BrowserRequest, &User, &Params) -> bool,
    /// What the page needs: the offer's own state, sealed into the page.
    pub prepare: for<'a> fn(&'a BrowserRequest, &'a User) -> Answer<'a, Vec<u8>>,
    /// The page, with a button `decision=later` beside its own.
    pub page: fn(&OfferPage<'_>) -> Html,
    /// The person accepted.
    pub accept: for<'a> fn(&'a Taken<'a>) -> Answer<'a, Accepted>,
}

/// What an offer's page is made of.
pub struct OfferPage<'a> {
    /// The request.
    pub browser: &'a BrowserRequest,
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed interaction.
    pub interaction: &'a str,
    /// Whom it is offered to.
    pub user: &'a User,
    /// What [`Offer::prepare`] answered.
    pub state: &'a [u8],
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// An offer that its person accepts.
pub struct Taken<'a> {
    /// The request.
    pub browser: &'a BrowserRequest,
    /// Whose session it was offered in.
    pub present: &'a LoggedIn,
    /// What [`Offer::prepare`] answered.
    pub state: &'a [u8],
    /// Until when the page may be sent again, Unix seconds.
    pub ends_at: u64,
    /// The form.
    pub form: &'a Params,
}

/// The result of an offer that was accepted.
pub enum Accepted {
    /// It was done: on to what the login was for.
    Done,
    /// It was not: the page is shown again.
    Again(&'static str),
}

fn declined_key(user_id: &str, offer: &str) -> Key {
    let hash = sha256(format!("{offer} {user_id}").as_bytes());
    Key::new(Table::Once, [b"o".as_slice(), &hash].concat())
}

async fn is_declined(
    browser: &BrowserRequest,
    user: &User,
    offer: &str,
) -> Result<bool, StoreError> {
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    let row = store.get(&declined_key(&user.id, offer), now).await?;
    Ok(row.is_some())
}

async fn decline(browser: &BrowserRequest, user_id: &str, offer: &str) -> Result<(), StoreError> {
    let (store, now) = (&browser.context.realm.store, browser.context.now());
    let put = Op::Put {
        key: declined_key(user_id, offer),
        value: Vec::new(),
        end: Some(now + DECLINED_FOR),
    };
    store.commit(Change::new(put), now).await.map(drop)
}

/// After a login: the page of the first offer there is, or on.
pub(super) async fn offer(journey: Journey, form: &Params) -> Next {
    let Journey {
        browser,
        interaction,
    } = journey;
    match first(&browser, form).await {
        Ok(Some((offer, state))) => show(browser, interaction, offer, state, None),
        Ok(None) => Next::Done(Journey::new(browser, interaction)),
        Err(error) => Next::Answer(browser.unavailable(&error)),
    }
}

async fn first(
    browser: &BrowserRequest,
    form: &Params,
) -> Result<Option<(&'static Offer, Vec<u8>)>, StoreError> {
    let Some(present) = browser.present() else {
        return Ok(None);
    };
    for offer in OFFERS {
        if (offer.applies)(browser, &present.user, form)
            && !is_declined(browser, &present.user, offer.name).await?
        {
            let state = (offer.prepare)(browser, &present.user).await?;
            return Ok(Some((offer, state)));
        }
    }
    Ok(None)
}

fn show(
    browser: BrowserRequest,
    mut interaction: Interaction,
    offer: &Offer,
    state: Vec<u8>,
    notice: Option<Notice>,
) -> Next {
    let Some(user) = browser.present().map(|present| present.user.clone()) else {
        return Next::identify(browser, interaction);
    };
    interaction.page = Page::Offer;
    interaction.shown_to = browser
        .present()
        .map(|present| present.found.row.sid.clone());
    interaction.pending = Some(Pending {
        method: offer.name.to_owned(),
        typed: String::new(),
        state,
    });
    let html = (offer.page)(&OfferPage {
        browser: &browser,
        action: ACTION,
        interaction: &browser.seal(&interaction),
        user: &user,
        state: interaction.pending.as_ref().map_or(&[], |p| &p.state),
        notice,
    });
    Next::Answer(browser.page(html))
}

/// Handles the form of an offer's page.
pub(super) async fn submit(journey: Journey, form: &Params) -> Next {
    let Journey {
        browser,
        mut interaction,
    } = journey;
    let pending = interaction.pending.take();
    let present = browser.present().cloned();
    let present = present.filter(|present| interaction.was_shown_to(&present.found.row));
    interaction.page = Page::Start;
    let (Some(pending), Some(present)) = (pending, present) else {
        // The session ended meanwhile, or is somebody else's: whatever it was for asks again.
        return Next::Done(Journey::new(browser, interaction));
    };
    let offer = OFFERS.iter().find(|offer| offer.name == pending.method);
    let outcome = match (form.get("decision"), offer) {
        (Some("later"), Some(offer)) => decline(&browser, &present.user.id, offer.name).await,
        (Some(decision), Some(offer)) if decision == offer.name => {
            let taken = Taken {
                browser: &browser,
                present: &present,
                state: &pending.state,
                ends_at: interaction.ends_at,
                form,
            };
            match (offer.accept)(&taken).await {
                Ok(Accepted::Done) => Ok(()),
                Ok(Accepted::Again(text)) => {
                    let notice = Some(Notice::Error(text));
                    return show(browser, interaction, offer, pending.state, notice);
                }
                Err(error) => Err(error),
            }
        }
        (_, Some(_)) | (_, None) => Ok(()),
    };
    match outcome {
        Ok(()) => Next::Done(Journey::new(browser, interaction)),
        Err(error) => Next::Answer(browser.unavailable(&error)),
    }
}
