//! The state of a browser, for OpenID Connect Session Management 1.0: in a cookie that a script of
//! this server's reads (`check_session_iframe`), and in the `session_state` of authorization
//! responses.
//!
//! It is a hash of what names the login: another one after every login, for another session, and
//! without one. Nothing can be done with it, so the script may read it; who asks without knowing
//! the value of a login hears the same whether there is one or not. As it follows from the session
//! alone, every node sets the same, and an answer puts right what was not: also where the session
//! was ended elsewhere.

use signet_crypto::hash::sha256;
use signet_encoding::base64url;

use signet_directory::session::SessionRow;

/// Of a browser whose session is over. Anybody knows it, so the script says "changed" to whoever
/// asks by it (`check-session.js`).
pub const NOBODY: &str = "none";

/// Of a browser with this session.
pub fn of(row: &SessionRow) -> String {
    let text = format!("browser state\0{}\0{}", row.sid, row.login_ms);
    base64url::encode(&sha256(text.as_bytes()))
}
