//! Which account a command is about, and its place in the admin API.

use signet_admin::USERS;

use signet_admin_client::Session;
use signet_admin_client::http_client::percent_encode;
use signet_terminal::Failure;

/// A user's id, from the name or address that people know, or the id itself.
pub async fn find(session: &Session, name: &str) -> Result<String, Failure> {
    let found = session
        .get(&format!("{}?login={}", USERS.path(), percent_encode(name)))
        .await?;
    match found["items"][0]["id"].as_str() {
        Some(id) => Ok(id.to_owned()),
        // Not a name: the next call says whether it is an id.
        None => Ok(name.to_owned()),
    }
}

/// A refusal of the admin API in the command's own words.
pub fn how_to_insist(failure: Failure, name: &str) -> Failure {
    match failure.error() {
        "last_administrator" => Failure::no(
            "last_administrator",
            format!(
                "{name} is the last account that may administer: make another one first, or add --last-administrator"
            ),
        ),
        _ => failure,
    }
}

/// The path of one user.
pub fn path(id: &str) -> String {
    format!("{}/{}", USERS.path(), percent_encode(id))
}
