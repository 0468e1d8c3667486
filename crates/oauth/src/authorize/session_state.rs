//! What a client learns of the browser's session, to ask about it later: `session_state` (OpenID
//! Connect Session Management 1.0 section 2).
//!
//! A hash of the client, the origin of its page, the state of the browser and a salt. The state is
//! in a cookie that only this server's own page reads; that page, in a frame of the client's,
//! computes the same hash, and says whether it still is the same (section 3.2).

use signet_crypto::hash::sha256;
use signet_encoding::base64url;

use crate::uri::Uri;

/// The `session_state` for a client and the page that is its redirect URI. None: the URI is not of
/// the web, so no page can ask. `browser_state`: what the cookie says. `salt`: new random bits.
pub fn session_state(
    client_id: &str,
    redirect_uri: &str,
    browser_state: &str,
    salt: &[u8; 16],
) -> Option<String> {
    let origin = web_origin(redirect_uri)?;
    let salt = base64url::encode(salt);
    Some(hashed(client_id, &origin, browser_state, &salt))
}

/// The same, of what the page in the frame knows: the asking page's origin as the browser writes
/// it, and the salt as it came.
pub fn hashed(client_id: &str, origin: &str, browser_state: &str, salt: &str) -> String {
    let text = [client_id, origin, browser_state, salt].join(" ");
    let hash = base64url::encode(&sha256(text.as_bytes()));
    format!("{hash}.{salt}")
}

/// As browsers write it (RFC 6454 section 6.2): in lower case, without the scheme's own port.
fn web_origin(url: &str) -> Option<String> {
    let uri = Uri::parse(url)?;
    let own_port = match &*uri.scheme.to_ascii_lowercase() {
        "https" => ":443",
        "http" => ":80",
        _ => return None,
    };
    let origin = uri.origin()?.to_ascii_lowercase();
    Some(match origin.strip_suffix(own_port) {
        Some(origin) => origin.to_owned(),
        None => origin,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hash_of_client_origin_state_and_salt_and_says_the_salt() {
        let state = session_state("web", "https://RP.example:443/cb?x=y", "s", &[0; 16]).unwrap();
        let salt = "AAAAAAAAAAAAAAAAAAAAAA";
        let text = format!("web https://rp.example s {salt}");
        let hash = base64url::encode(&sha256(text.as_bytes()));
        assert_eq!(state, format!("{hash}.{salt}"));
        // Section 2: the value has no space in it, for the message to the frame is parted by one.
        assert!(!state.contains(' '));
    }

    #[test]
    fn each_part_counts() {
        let of = |client: &str, url: &str, state: &str, salt: u8| {
            session_state(client, url, state, &[salt; 16])
        };
        let first = of("web", "https://rp.example/cb", "s", 1);
        assert_eq!(first, of("web", "https://rp.example/other", "s", 1));
        for other in [
            of("wed", "https://rp.example/cb", "s", 1),
            of("web", "https://rp.example:8443/cb", "s", 1),
            of("web", "http://rp.example/cb", "s", 1),
            of("web", "https://rp.example/cb", "t", 1),
            of("web", "https://rp.example/cb", "s", 2),
        ] {
            assert!(other.is_some());
            assert_ne!(first, other);
        }
    }

    #[test]
    fn an_address_of_no_web_page_has_none() {
        for url in ["com.example.app:/cb", "com.example.app://host/cb", ""] {
            assert_eq!(session_state("app", url, "s", &[0; 16]), None, "{url}");
        }
    }
}
