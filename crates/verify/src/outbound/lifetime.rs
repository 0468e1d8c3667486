//! How long an answer says that it stays good (RFC 9111 sections 4.2 and 5.2.2).

use http::{HeaderMap, header};
use std::time::Duration;

/// `max-age` less `Age`; zero for `no-store` and `no-cache`; none where the answer says nothing
/// that can be read.
///
/// `s-maxage` is for caches that several users share, which this is not; `Expires` needs the other
/// side's clock.
pub(crate) fn lifetime(headers: &HeaderMap) -> Option<Duration> {
    let mut max_age = None;
    for value in headers.get_all(header::CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or("").split(',') {
            let (name, argument) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-store" | "no-cache" => return Some(Duration::ZERO),
                // The first one counts, and one that is no number is as if it were stale (section
                // 4.2.1).
                "max-age" if max_age.is_none() => max_age = Some(seconds(argument).unwrap_or(0)),
                _ => {}
            }
        }
    }
    let age = headers
        .get(header::AGE)
        .and_then(|age| seconds(age.to_str().ok()?))
        .unwrap_or(0);
    max_age.map(|max_age| Duration::from_secs(max_age.saturating_sub(age)))
}

/// `delta-seconds` of section 1.2.2: beyond 2^31 it is 2^31.
fn seconds(text: &str) -> Option<u64> {
    let text = text.trim().trim_matches('"');
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX).min(1 << 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&'static str, &'static str)]) -> Option<u64> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, http::HeaderValue::from_static(value));
        }
        lifetime(&headers).map(|lifetime| lifetime.as_secs())
    }

    #[test]
    fn max_age_is_read_among_other_directives_less_the_answers_age() {
        for (value, expected) in [
            ("max-age=600", Some(600)),
            ("public, Max-Age=600, must-revalidate", Some(600)),
            ("public,max-age=\"600\"", Some(600)),
            ("max-age=1, max-age=600", Some(1)),
            ("s-maxage=600", None),
            ("public", None),
            ("", None),
            ("max-age=-1", Some(0)),
            ("max-age=x", Some(0)),
            ("max-age", Some(0)),
            ("max-age=99999999999999999999999", Some(1 << 31)),
            ("max-age=600, no-cache", Some(0)),
            ("no-store", Some(0)),
        ] {
            assert_eq!(of(&[("cache-control", value)]), expected, "{value}");
        }
        assert_eq!(of(&[]), None);
        let aged = |age| of(&[("cache-control", "max-age=600"), ("age", age)]);
        assert_eq!(aged("100"), Some(500));
        assert_eq!(aged("900"), Some(0));
        assert_eq!(aged("x"), Some(600));
        let two = [("cache-control", "public"), ("cache-control", "max-age=60")];
        assert_eq!(of(&two), Some(60));
    }
}
