//! Cookies: read from whatever a browser, or somebody else, sent; written with every attribute that
//! binds them to one host.

use http::{HeaderMap, HeaderValue, header};

/// The session. `__Host-` (RFC 6265bis section 4.1.3.2): no other host can set it, and none
/// receives it.
pub const SESSION: &str = "__Host-signet-gate";
/// A login under way; the state of the authorization request follows.
pub const ATTEMPT: &str = "__Host-signet-gate-login.";
/// How many logins ended here of late: against loops.
pub const ROUNDS: &str = "__Host-signet-gate-rounds";

/// Every cookie of a request, in order, as far as it is text.
pub fn all(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let fields = headers.get_all(header::COOKIE).iter();
    fields
        .filter_map(|field| std::str::from_utf8(field.as_bytes()).ok())
        .flat_map(|field| field.split(';'))
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.trim_matches(SPACE), value.trim_matches(SPACE)))
}

const SPACE: [char; 2] = [' ', '\t'];

/// The one cookie of this name. None where it is missing, and where there are two: nobody could say
/// which of them is the browser's own.
pub fn single<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let mut found = all(headers).filter(|(other, _)| *other == name);
    match (found.next(), found.next()) {
        (Some((_, value)), None) => Some(value),
        (None, _) | (Some(_), Some(_)) => None,
    }
}

/// `Set-Cookie` for one host, out of reach of scripts. `seconds`: how long it is kept; none: until
/// the browser is closed.
pub(crate) fn set(name: &str, value: &str, seconds: Option<u64>) -> Option<HeaderValue> {
    let mut text = [name, "=", value, "; Path=/; Secure; HttpOnly; SameSite=Lax"].concat();
    if let Some(seconds) = seconds {
        text.push_str("; Max-Age=");
        text.push_str(&seconds.to_string());
    }
    let mut value = HeaderValue::from_str(&text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// `Set-Cookie` that takes a cookie away.
pub(crate) fn remove(name: &str) -> Option<HeaderValue> {
    set(name, "", Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headers(fields: &[&[u8]]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for field in fields {
            if let Ok(value) = HeaderValue::from_bytes(field) {
                map.append(header::COOKIE, value);
            }
        }
        map
    }

    #[test]
    fn a_cookie_is_found_in_any_field_and_by_its_whole_name() {
        let map = headers(&[
            b"a=1; __Host-signet-gate=x=y ;b=2",
            b"__host-signet-gate=no; __Host-signet-gate2=no",
        ]);
        assert_eq!(single(&map, SESSION), Some("x=y"));
        assert_eq!(single(&map, "a"), Some("1"));
        assert_eq!(single(&map, "c"), None);
    }

    #[test]
    fn two_cookies_of_one_name_are_none() {
        let one = format!("{SESSION}=a; {SESSION}=a");
        assert_eq!(single(&headers(&[one.as_bytes()]), SESSION), None);
        let first = format!("{SESSION}=a");
        let two = headers(&[first.as_bytes(), first.as_bytes()]);
        assert_eq!(single(&two, SESSION), None);
    }

    #[test]
    fn a_cookie_is_bound_to_its_host_and_hidden_from_scripts() {
        let set = set(SESSION, "v", None).unwrap();
        assert_eq!(
            set.to_str().unwrap(),
            "__Host-signet-gate=v; Path=/; Secure; HttpOnly; SameSite=Lax"
        );
        assert!(set.is_sensitive());
        assert!(
            remove(SESSION)
                .unwrap()
                .to_str()
                .unwrap()
                .ends_with("Max-Age=0")
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(fields in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..5)) {
            let fields: Vec<&[u8]> = fields.iter().map(Vec::as_slice).collect();
            let map = headers(&fields);
            let _ = single(&map, SESSION);
            for (name, value) in all(&map) {
                prop_assert!(!name.contains(['=', ';']) && !value.contains(';'));
            }
        }
    }
}
