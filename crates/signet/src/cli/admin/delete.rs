//! `signet user remove --with-grace` and `signet user keep`.

use http::Method;

use super::{account, noun};
use crate::cli::{Failure, Output, block_on};
use signet_admin_client::{Session, Target};

/// Has a user erased after the time of grace.
pub fn later(name: &str, query: &str, target: &Target, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let path = account::path(&account::find(session, name).await?);
        let path = format!("{path}/deletion{query}");
        let answer = session.call(Method::POST, &path, None, None).await;
        let answer = answer.map_err(|failure| account::how_to_insist(failure, name))?;
        output.print(&answer.value, || {
            let at = noun::cell("erase_at", &answer.value["deletion"]["erase_at"]);
            format!("{name} will be erased at {at}; until then: signet user keep {name}")
        })
    }))?
}

/// Keeps a user who was to be erased.
pub fn keep(name: &str, target: &Target, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let path = account::path(&account::find(session, name).await?);
        let path = format!("{path}/deletion");
        let answer = session.call(Method::DELETE, &path, None, None).await?;
        output.print(&answer.value, || format!("{name} stays"))
    }))?
}
