//! A login that is kept: which one is meant, and its tokens, refreshed where they have expired.

use std::path::Path;
use std::time::UNIX_EPOCH;

use signet_context::{Context, ContextError, Folder, Tokens};
use signet_crypto::Secret;
use signet_terminal::input::is_attended;
use signet_terminal::output::{Failure, note};

use crate::dev_file;
use crate::login::{Issued, Login};

/// An access token that expires within this time is not used any more, in seconds.
const LEEWAY: u64 = 20;
/// The server ended the login, or it expired.
const SESSION_ENDED: &str = "session_ended";

/// A failure of the kept logins, for the operator.
pub(crate) fn unusable(error: ContextError) -> Failure {
    Failure::unusable(error.to_string())
}

/// The login of this server, or the current one. None: nothing is kept, or there is no place where
/// it could be.
pub(crate) fn find(server: Option<&str>) -> Result<Option<Context>, Failure> {
    let folder = match Folder::of_user() {
        Ok(folder) => folder,
        Err(ContextError::NoHome) => return Ok(None),
        Err(error) => return Err(unusable(error)),
    };
    let contexts = folder.read().map_err(unusable)?;
    Ok(match server {
        Some(server) => contexts.of_server(server).cloned(),
        None => contexts.current().cloned(),
    })
}

/// Says at a terminal that the current context is meant, where a development server could be, too.
pub(crate) fn say_which(context: &Context, directory: &Path) {
    if is_attended() && directory.join(dev_file::FILE).exists() {
        note(&format!(
            "signet: at {} (context {}); --data-dir {} is the development server of this directory",
            context.issuer,
            context.name,
            directory.display()
        ));
    }
}

/// What is said where a login does not count any more.
pub(crate) fn ended(server: &str) -> Failure {
    let said = format!(
        "the login at {server} has expired or was terminated: signet login --server {server}"
    );
    Failure::no(SESSION_ENDED, said)
}

/// Unix seconds.
pub(crate) fn now() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

/// Tokens as they are kept.
pub(crate) fn tokens(issued: Issued) -> Tokens {
    Tokens {
        access: issued.access,
        expires_at: now().saturating_add(issued.lifetime),
        refresh: issued.refresh,
    }
}

fn is_valid(tokens: &Tokens) -> bool {
    tokens.expires_at > now().saturating_add(LEEWAY)
}

/// The access token of a login. One that has expired is replaced under the lock: of commands that
/// run at once the first one refreshes, and the others find what it wrote. The server consumes a
/// refresh token, and takes the second use of one for a theft.
pub(crate) async fn token(context: Context, login: &Login<'_>) -> Result<Secret<String>, Failure> {
    if is_valid(&context.tokens) {
        return Ok(context.tokens.access);
    }
    let locked = Folder::of_user()
        .and_then(|folder| folder.lock())
        .map_err(unusable)?;
    let mut contexts = locked.read().map_err(unusable)?;
    let found = contexts.named(&context.name);
    // Logged out, or in elsewhere under the same name, while this command waited.
    let Some(found) = found.filter(|found| found.issuer == context.issuer) else {
        return Err(ended(&context.issuer));
    };
    if is_valid(&found.tokens) {
        return Ok(found.tokens.access.clone());
    }
    let Some(refresh) = &found.tokens.refresh else {
        return Err(ended(&context.issuer));
    };
    let issued = login.refresh(refresh).await.map_err(|failure| {
        // RFC 6749 section 5.2. Anything else may pass.
        match failure.error() {
            "invalid_grant" | "invalid_client" | "unauthorized_client" => ended(&context.issuer),
            _ => failure,
        }
    })?;
    let mut next = tokens(issued);
    // RFC 6749 section 6: a server that issues no other one lets this one go on.
    if next.refresh.is_none() {
        next.refresh = Some(refresh.clone());
    }
    let access = next.access.clone();
    contexts.renew(&context.name, next);
    locked.write(&contexts).map_err(unusable)?;
    Ok(access)
}
