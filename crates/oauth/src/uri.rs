//! The small part of RFC 3986 that registration and redirects need: an absolute URI, split where it
//! is, never rewritten.
//!
//! Everything here compares and stores the text that was registered. Nothing is decoded or
//! normalised, so two spellings are two URIs; where a spelling could mean two things to two parsers
//! (white space, backslashes, user information, controls), it is refused.
use std::net::{Ipv4Addr, Ipv6Addr};

/// The longest URI that is read, in bytes.
pub const MAX_URI_BYTES: usize = 2048;

/// An absolute URI without fragment and user information, split but not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uri<'a> {
    /// lower-case letters, digits, `+-.`
    pub scheme: &'a str,
    /// as written, brackets included; None where there is no `//`
    pub host: Option<&'a str>,
    /// None where none was written
    pub port: Option<u16>,
    /// path and query, as written
    pub rest: &'a str,
}

impl<'a> Uri<'a> {
    /// Splits `text`. None for anything that is not an absolute URI of allowed characters, has a
    /// fragment or user information, an upper-case scheme, an empty host, a port outside 1 to
    /// 65535, or dot segments.
    pub fn parse(text: &'a str) -> Option<Uri<'a>> {
        if text.len() > MAX_URI_BYTES || !text.bytes().all(allowed) || !percent_encoded(text) {
            return None;
        }
        let (scheme, after) = text.split_once(':')?;
        let mut letters = scheme.bytes();
        if !letters.next()?.is_ascii_lowercase()
            || !letters.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.".contains(&b))
        {
            return None;
        }
        let Some(after) = after.strip_prefix("//") else {
            return (!after.is_empty()).then_some(Uri {
                scheme,
                host: None,
                port: None,
                rest: after,
            });
        };
        let end = after.find(['/', '?']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        let (host, port) = split_authority(authority)?;
        let path = rest.split('?').next().unwrap_or_default();
        if path.split('/').any(|s| s == "." || s == "..") {
            return None;
        }
        Some(Uri {
            scheme,
            host: Some(host),
            port,
            rest,
        })
    }

    /// Is the host a loopback address literal, or `localhost`?
    pub fn is_loopback(&self) -> bool {
        match self.host {
            Some("localhost") => true,
            Some(host) => match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
                Some(v6) => v6.parse::<Ipv6Addr>().is_ok_and(|a| a.is_loopback()),
                None => host.parse::<Ipv4Addr>().is_ok_and(|a| a.is_loopback()),
            },
            None => false,
        }
    }

    /// `scheme://host[:port]`: a web origin (RFC 6454), as written.
    pub fn origin(&self) -> Option<String> {
        let host = self.host?;
        Some(match self.port {
            Some(port) => format!("{}://{host}:{port}", self.scheme),
            None => format!("{}://{host}", self.scheme),
        })
    }
}

/// An `https` URL with a host (or `http` on loopback): what a client's own pages, `jwks_uri` and
/// the like must be.
pub fn is_web_url(text: &str) -> bool {
    Uri::parse(text).is_some_and(|u| {
        u.host.is_some() && (u.scheme == "https" || u.scheme == "http" && u.is_loopback())
    })
}

/// A web origin as browsers send it: scheme, host and port, nothing after.
pub fn is_origin(text: &str) -> bool {
    is_web_url(text)
        && Uri::parse(text).is_some_and(|u| u.rest.is_empty())
        && !text.bytes().any(|b| b.is_ascii_uppercase())
}

/// The unreserved, reserved and percent characters of RFC 3986, without `#`.
fn allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&byte)
}

/// Is every `%` followed by two hexadecimal digits?
fn percent_encoded(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        after
            .as_bytes()
            .get(..2)
            .is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    })
}

fn split_authority(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = if authority.starts_with('[') {
        let end = authority.find(']')? + 1;
        let (host, after) = authority.split_at(end);
        host[1..end - 1].parse::<Ipv6Addr>().ok()?;
        (host, after)
    } else {
        let end = authority.find(':').unwrap_or(authority.len());
        let (host, after) = authority.split_at(end);
        // No user information, wildcards or percent-encoded hosts: registered names are LDH labels.
        if host.is_empty()
            || !host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
        {
            return None;
        }
        (host, after)
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        None => return None,
        Some(digits) => Some(parse_port(digits)?),
    };
    Some((host, port))
}

/// One spelling of a port: digits without a leading zero, 1 to 65535.
pub(crate) fn parse_port(digits: &str) -> Option<u16> {
    if digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_uri_is_split_where_it_is() {
        let u = Uri::parse("https://rp.example:8443/cb?x=1").unwrap();
        assert_eq!(
            (u.scheme, u.host, u.port, u.rest),
            ("https", Some("rp.example"), Some(8443), "/cb?x=1")
        );
        let u = Uri::parse("com.example.app:/cb").unwrap();
        assert_eq!((u.host, u.rest), (None, "/cb"));
        assert!(Uri::parse("http://[::1]:5/").unwrap().is_loopback());
        assert!(Uri::parse("http://127.9.9.9/").unwrap().is_loopback());
        assert!(
            !Uri::parse("http://127.0.0.1.evil.example/")
                .unwrap()
                .is_loopback()
        );
        assert!(
            !Uri::parse("http://localhost.evil.example/")
                .unwrap()
                .is_loopback()
        );
    }

    #[test]
    fn spellings_that_two_parsers_read_differently_are_refused() {
        for bad in [
            "",
            "https",
            "https:",
            "//rp.example",
            "https://",
            "https://rp.example#f",
            "https://user@rp.example/",
            "https://rp.example\\@evil/",
            "https://rp.example/ x",
            "https://rp.example/%zz",
            "https://rp.example/%2",
            "https://rp.example:0/",
            "https://rp.example:080/",
            "https://rp.example:99999/",
            "https://rp.example:/",
            "https://*.example/",
            "HTTPS://rp.example/",
            "https://rp.example/a/../b",
            "https://[::1",
            "https://[x]/",
            "1ttp://x/",
            "https://é.example/",
        ] {
            assert_eq!(Uri::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_origin_has_nothing_after_its_port() {
        assert!(is_origin("https://spa.example"));
        assert!(is_origin("http://localhost:3000"));
        for bad in ["https://spa.example/", "http://spa.example", "null", "*"] {
            assert!(!is_origin(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn splitting_never_panics(text in ".{0,80}") {
            let _ = Uri::parse(&text);
        }
        #[test]
        fn splitting_structured_text_never_panics(text in "[a-z:/?\\[\\]@%.0-9#]{0,40}") {
            let _ = Uri::parse(&text).map(|u| (u.origin(), u.is_loopback()));
        }
    }
}
