//! A login under way: what the callback needs, sealed into a cookie of the browser that began it.
//!
//! Each has a cookie of its own, named by its `state`, so that several windows do not disturb each
//! other. How many there are, and how many bytes they take together, is bounded: the oldest go.

use crate::{Application, cookie};
use http::{HeaderMap, HeaderValue};
use signet_crypto::{
    Secret, random,
    seal::{Keyring, Purpose},
};
use signet_encoding::{
    base64url,
    json::{Limits, Writer, parse_object},
};

/// Longest path and query that a login returns to, in bytes.
pub(crate) const MAX_RETURN_BYTES: usize = 1_024;
/// Seconds that a login may take.
pub(crate) const MAX_ATTEMPT_SECONDS: u64 = 900;
/// Logins of one browser that may be under way.
pub(crate) const MAX_ATTEMPTS: usize = 10;
/// Bytes that their cookies may take together.
pub(crate) const MAX_ATTEMPT_BYTES: usize = 4_096;
/// Most cookies of this kind that are looked at.
const LOOKED_AT: usize = 32;

/// A login under way.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) state: String,
    pub(crate) nonce: String,
    /// RFC 7636
    pub(crate) verifier: Secret<String>,
    /// path and query that were asked for
    pub(crate) to: String,
    /// Unix seconds
    pub(crate) at: u64,
}

impl Attempt {
    /// A new one. `to` has gone through [`return_path`].
    pub(crate) fn new(to: String, now: u64) -> Attempt {
        Attempt {
            state: base64url::encode(&random::bytes::<16>()),
            nonce: base64url::encode(&random::bytes::<16>()),
            verifier: Secret::new(base64url::encode(&random::bytes::<32>())),
            to,
            at: now,
        }
    }

    /// The cookie's name.
    pub(crate) fn cookie(&self) -> String {
        [cookie::ATTEMPT, &self.state].concat()
    }

    /// The cookie's value.
    pub(crate) fn seal(&self, keys: &Keyring, application: &Application) -> Option<String> {
        let mut json = Vec::with_capacity(160 + self.to.len());
        Writer::new(&mut json).object(|w| {
            w.member("at").number(self.at);
            w.member("nonce").string(&self.nonce);
            w.member("verifier").string(self.verifier.expose());
            w.member("to").string(&self.to);
        });
        let json = Secret::new(json);
        let bound = bound(application, &self.state);
        let sealed = keys.seal_with(Purpose::Interaction, bound.as_bytes(), json.expose());
        Some(base64url::encode(&sealed.ok()?))
    }

    /// The login that a callback with this state ends, if this browser began it and it is not too
    /// long ago.
    pub(crate) fn find(
        keys: &Keyring,
        application: &Application,
        headers: &HeaderMap,
        state: &str,
        now: u64,
    ) -> Option<Attempt> {
        if !is_state(state) {
            return None;
        }
        let name = [cookie::ATTEMPT, state].concat();
        let value = cookie::single(headers, &name)?;
        let attempt = Attempt::open(keys, application, state, value)?;
        attempt.is_fresh(now).then_some(attempt)
    }

    fn is_fresh(&self, now: u64) -> bool {
        now < self.at.saturating_add(MAX_ATTEMPT_SECONDS)
    }

    fn open(
        keys: &Keyring,
        application: &Application,
        state: &str,
        value: &str,
    ) -> Option<Attempt> {
        if value.len() > MAX_ATTEMPT_BYTES {
            return None;
        }
        let sealed = base64url::decode(value.as_bytes()).ok()?;
        let bound = bound(application, state);
        let json = keys.open_with(Purpose::Interaction, bound.as_bytes(), &sealed);
        let json = Secret::new(json.ok()?);
        let object = parse_object(json.expose(), &Limits::default()).ok()?;
        let text = |name: &str| Some(object.string(name).ok()??.to_owned());
        Some(Attempt {
            state: state.to_owned(),
            nonce: text("nonce")?,
            verifier: Secret::new(text("verifier")?),
            to: text("to")?,
            at: object.u64("at").ok()??,
        })
    }
}

/// A sealed login opens under its own name alone, at its own application.
fn bound(application: &Application, state: &str) -> String {
    [application.origin(), " ", state].concat()
}

fn is_state(text: &str) -> bool {
    text.len() == 22 && base64url::is_well_formed(text.as_bytes())
}

/// `Set-Cookie` values that make room for one more login of `bytes` bytes: what cannot be used
/// goes, then the oldest.
pub(crate) fn make_room(
    keys: &Keyring,
    application: &Application,
    headers: &HeaderMap,
    bytes: usize,
    now: u64,
) -> Vec<HeaderValue> {
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    let begun = cookie::all(headers)
        .filter_map(|(name, value)| Some((name, name.strip_prefix(cookie::ATTEMPT)?, value)))
        .filter(|(_, state, _)| is_state(state));
    for (name, state, value) in begun.take(LOOKED_AT) {
        match Attempt::open(keys, application, state, value) {
            Some(attempt) if attempt.is_fresh(now) => kept.push((attempt.at, value.len(), name)),
            Some(_) | None => gone.push(name),
        }
    }
    // The latest first.
    kept.sort_by_key(|(at, ..)| std::cmp::Reverse(*at));
    let mut room = MAX_ATTEMPT_BYTES.saturating_sub(bytes);
    for (count, (_, length, name)) in kept.into_iter().enumerate() {
        let fits = count + 1 < MAX_ATTEMPTS && length <= room;
        match fits {
            true => room -= length,
            false => {
                // What is older than one that goes does not stay.
                room = 0;
                gone.push(name);
            }
        }
    }
    gone.into_iter().filter_map(cookie::remove).collect()
}

/// The path and query to return to: of the application itself, and short enough; else its root.
pub(crate) fn return_path(asked: &str) -> &str {
    // Browsers take a backslash for a slash: `//host` and `/\host` would be another host, were they
    // ever written without ours before them.
    let leads_elsewhere = asked.starts_with("//") || asked.contains('\\');
    let is_visible = asked.bytes().all(|byte| byte.is_ascii_graphic());
    match asked.starts_with('/')
        && !leads_elsewhere
        && is_visible
        && asked.len() <= MAX_RETURN_BYTES
    {
        true => asked,
        false => "/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::header;
    use signet_crypto::seal::SealingKey;

    fn keys() -> Keyring {
        Keyring::new(SealingKey::generate(), Vec::new())
    }

    fn application(host: &str) -> Application {
        Application::new(&format!("https://{host}")).unwrap()
    }

    fn headers(cookies: &[(String, String)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in cookies {
            let pair = [name.as_str(), "=", value].concat();
            map.append(header::COOKIE, HeaderValue::from_str(&pair).unwrap());
        }
        map
    }

    #[test]
    fn a_login_is_found_by_its_state_in_the_browser_that_began_it() {
        let (keys, here) = (keys(), application("a"));
        let one = Attempt::new("/x?y=1".into(), 100);
        let other = Attempt::new("/z".into(), 100);
        let sealed = one.seal(&keys, &here).unwrap();
        let map = headers(&[(one.cookie(), sealed.clone())]);
        let found = Attempt::find(&keys, &here, &map, &one.state, 101).unwrap();
        assert_eq!(
            (found.to.as_str(), found.nonce),
            ("/x?y=1", one.nonce.clone())
        );
        assert_eq!(found.verifier, one.verifier);
        // Another state, another application, another browser, later, another name.
        assert!(Attempt::find(&keys, &here, &map, &other.state, 101).is_none());
        assert!(Attempt::find(&keys, &application("b"), &map, &one.state, 101).is_none());
        assert!(Attempt::find(&keys, &here, &HeaderMap::new(), &one.state, 101).is_none());
        let late = 100 + MAX_ATTEMPT_SECONDS;
        assert!(Attempt::find(&keys, &here, &map, &one.state, late).is_none());
        let swapped = headers(&[(other.cookie(), sealed)]);
        assert!(Attempt::find(&keys, &here, &swapped, &other.state, 101).is_none());
        for state in [
            "",
            "x",
            "../../../../etc/passwd",
            "a b",
            &"a".repeat(10_000),
        ] {
            assert!(Attempt::find(&keys, &here, &map, state, 101).is_none());
        }
    }

    #[test]
    fn logins_under_way_are_bounded_in_number_and_bytes() {
        let (keys, here) = (keys(), application("a"));
        let begun = |at, length| {
            let attempt = Attempt::new(format!("/{}", "x".repeat(length)), at);
            (attempt.cookie(), attempt.seal(&keys, &here).unwrap())
        };
        let many: Vec<_> = (0..20).map(|at| begun(100 + at, 1)).collect();
        let gone = make_room(&keys, &here, &headers(&many), 300, 130);
        assert_eq!(gone.len(), 20 - (MAX_ATTEMPTS - 1));
        let oldest = gone.iter().filter_map(|value| value.to_str().ok());
        let oldest: Vec<&str> = oldest.filter_map(|text| text.split('=').next()).collect();
        assert!(
            many[..11]
                .iter()
                .all(|(name, _)| oldest.contains(&name.as_str()))
        );
        let long: Vec<_> = (0..4).map(|at| begun(100 + at, 1_000)).collect();
        let gone = make_room(&keys, &here, &headers(&long), 1_500, 130);
        assert_eq!(gone.len(), 3);
        let junk: Vec<_> = (0..5)
            .map(|_| (Attempt::new(String::new(), 1).cookie(), "junk".to_owned()))
            .collect();
        assert_eq!(make_room(&keys, &here, &headers(&junk), 300, 130).len(), 5);
    }

    #[test]
    fn a_login_returns_to_its_own_host_alone() {
        for good in ["/", "/a", "/a/b?c=d&e=//f", "/a?next=https://evil.example"] {
            assert_eq!(return_path(good), good);
        }
        let long = format!("/{}", "x".repeat(MAX_RETURN_BYTES));
        for bad in [
            "",
            "a",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "/a\r\nSet-Cookie: x=y",
            "/a b",
            "/\u{e9}",
            "javascript:alert(1)",
            &long,
        ] {
            assert_eq!(return_path(bad), "/", "{bad:?}");
        }
    }
}
