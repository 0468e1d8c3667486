//! What a reverse proxy says about the real client. It counts only from addresses that the
//! configuration names, and with the secret that it names, if it does.
use http::HeaderMap;
use signet_crypto::certificate::ClientCertificate;
use signet_http::{Connection, PresentedCertificate, certificate::der_of_field};
use signet_realm::state::{ForwardedHeader, Policy};
use std::net::IpAddr;

/// A trusted proxy names somebody, and not by an address: who asks is not known, and must not be
/// taken for the proxy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnknownClient;

/// The client's address: the right-most entry that is not itself a trusted proxy. What stands
/// further left was written by the client, and is not looked at.
///
/// # Errors
/// The walk from the right met something that is no address (RFC 7239 section 6 has `unknown` and
/// obfuscated names), or the header is there and names nobody.
pub(crate) fn client_address(
    socket: IpAddr,
    headers: &HeaderMap,
    policy: &Policy,
) -> Result<IpAddr, UnknownClient> {
    if !policy.is_of_proxy(socket, headers) {
        return Ok(socket);
    }
    let name = match policy.forwarded {
        ForwardedHeader::XForwardedFor => "x-forwarded-for",
        ForwardedHeader::Forwarded => "forwarded",
    };
    let mut lines = headers.get_all(name).iter().rev().peekable();
    if lines.peek().is_none() {
        // The proxy speaks for itself: a health check.
        return Ok(socket);
    }
    // Bytes, not text: what a client puts into the line must not hide what the proxy adds behind
    // it.
    let elements = lines
        .flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        // RFC 9110 section 5.6.1.2: empty elements of a list do not count.
        .filter(|element| !element.is_empty());
    let mut last = Err(UnknownClient);
    for element in elements {
        let hop = hop(element, policy.forwarded).ok_or(UnknownClient)?;
        if !policy.is_trusted_proxy(hop) {
            return Ok(hop);
        }
        last = Ok(hop);
    }
    last
}

fn hop(element: &[u8], which: ForwardedHeader) -> Option<IpAddr> {
    let element = std::str::from_utf8(element).ok()?;
    match which {
        ForwardedHeader::XForwardedFor => parse_node(element),
        // RFC 7239 section 4: for=192.0.2.1;proto=https
        ForwardedHeader::Forwarded => element.split(';').find_map(|pair| {
            let (key, value) = pair.trim().split_once('=')?;
            key.eq_ignore_ascii_case("for").then(|| parse_node(value))?
        }),
    }
}

/// An address, perhaps with a port, in brackets, in quotes (RFC 7239 section 6).
fn parse_node(node: &str) -> Option<IpAddr> {
    let node = node.trim_matches('"');
    if let Ok(address) = node.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    if let Ok(socket) = node.parse::<std::net::SocketAddr>() {
        return Some(socket.ip().to_canonical());
    }
    let inside = node.strip_prefix('[')?.strip_suffix(']')?;
    inside.parse::<IpAddr>().ok().map(|a| a.to_canonical())
}

/// The client certificate that a trusted proxy hands over in the configured header: RFC 9440
/// (`:base64:`), plain base64 DER, or PEM in percent-encoding (nginx).
pub(crate) fn client_certificate(
    connection: &Connection,
    headers: &HeaderMap,
    policy: &Policy,
) -> Option<PresentedCertificate> {
    let name = policy.client_certificate_header.as_deref()?;
    if !policy.may_hand_over_certificates(connection, headers) {
        return None;
    }
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.trim();
    if values.next().is_some() || value.is_empty() || value.len() > 16 * 1024 {
        return None;
    }
    let certificate = ClientCertificate::parse(&der_of_field(value)?).ok()?;
    Some(PresentedCertificate {
        certificate,
        chain_trusted: policy.proxy_verifies_client_certificates,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::Secret;
    use signet_http::ProxySecret;
    use std::sync::Arc;

    fn policy(forwarded: ForwardedHeader) -> Policy {
        Policy {
            trusted_proxies: vec!["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()],
            forwarded,
            ..Policy::default()
        }
    }
    fn address(socket: &str, lines: &[&[u8]]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            let line = http::HeaderValue::from_bytes(line).unwrap();
            headers.append("x-forwarded-for", line);
        }
        let policy = policy(ForwardedHeader::XForwardedFor);
        client_address(socket.parse().unwrap(), &headers, &policy)
            .ok()
            .map(|address| address.to_string())
    }
    fn seen(socket: &str, value: &str) -> String {
        address(socket, &[value.as_bytes()]).unwrap_or("unknown".to_owned())
    }

    #[test]
    fn only_a_named_proxy_is_believed_and_only_its_own_entry() {
        assert_eq!(seen("192.0.2.9", "203.0.113.1"), "192.0.2.9");
        assert_eq!(seen("192.0.2.9", "nobody"), "192.0.2.9");
        assert_eq!(seen("10.0.0.1", "203.0.113.1"), "203.0.113.1");
        // The client wrote the left entries.
        assert_eq!(seen("10.0.0.1", "198.51.100.7, 203.0.113.1"), "203.0.113.1");
        assert_eq!(seen("10.0.0.1", "203.0.113.1, 10.0.0.2"), "203.0.113.1");
        assert_eq!(seen("10.0.0.1", "\"[2001:db8::1]:80\""), "2001:db8::1");
        // A proxy that asks on its own account.
        assert_eq!(address("10.0.0.1", &[]).as_deref(), Some("10.0.0.1"));
        assert_eq!(seen("10.0.0.1", "10.0.0.2"), "10.0.0.2");
    }

    #[test]
    fn with_a_secret_an_address_alone_makes_no_proxy() {
        const SECRET: &str = "0123456789abcdef0123456789abcdef";
        let secret = ProxySecret::new("x-proxy-secret", Secret::new(SECRET.to_owned()));
        let policy = Policy {
            proxy_secret: Some(Arc::new(secret.unwrap())),
            ..policy(ForwardedHeader::XForwardedFor)
        };
        let seen = |socket: &str, shown: &[&str]| {
            let mut headers = HeaderMap::new();
            headers.insert("x-forwarded-for", "203.0.113.1".parse().unwrap());
            for secret in shown {
                headers.append("x-proxy-secret", secret.parse().unwrap());
            }
            let seen = client_address(socket.parse().unwrap(), &headers, &policy);
            seen.unwrap().to_string()
        };
        assert_eq!(seen("10.0.0.1", &[SECRET]), "203.0.113.1");
        for shown in [&[][..], &[""], &["0123"], &[SECRET, SECRET], &["x", SECRET]] {
            assert_eq!(seen("10.0.0.1", shown), "10.0.0.1", "{shown:?}");
        }
        assert_eq!(seen("192.0.2.9", &[SECRET]), "192.0.2.9");
    }

    #[test]
    fn no_byte_of_a_client_makes_it_the_proxy_that_it_came_through() {
        let of = |lines: &[&[u8]]| address("10.0.0.1", lines);
        for line in [
            &b"\xff, 203.0.113.9"[..],
            b"xx, 203.0.113.9",
            b"\xff,203.0.113.9",
            b",, \xe2\x82, 203.0.113.9,",
        ] {
            assert_eq!(of(&[line]).as_deref(), Some("203.0.113.9"), "{line:?}");
        }
        let two: [&[u8]; 2] = [b"\xff", b"203.0.113.9"];
        assert_eq!(of(&two).as_deref(), Some("203.0.113.9"));
        let behind_two: [&[u8]; 1] = [b"\xff, 203.0.113.9, 10.0.0.2"];
        assert_eq!(of(&behind_two).as_deref(), Some("203.0.113.9"));
        // Where the proxy names nobody, nobody is known: least of all the proxy.
        for line in [
            &b"\xff"[..],
            b"",
            b" , ",
            b"unknown",
            b"203.0.113.9, unknown",
            b"203.0.113.9, \xff",
            b"_hidden, 10.0.0.2",
        ] {
            assert_eq!(of(&[line]), None, "{line:?}");
        }
    }

    #[test]
    fn forwarded_reads_its_for_parameter() {
        let of = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert("forwarded", http::HeaderValue::from_bytes(value).unwrap());
            let policy = policy(ForwardedHeader::Forwarded);
            client_address("10.0.0.1".parse().unwrap(), &headers, &policy)
                .ok()
                .map(|address| address.to_string())
        };
        let value = b"for=198.51.100.7, For=\"[2001:db8::17]\";proto=https";
        assert_eq!(of(value).as_deref(), Some("2001:db8::17"));
        let value = b"for=\xff, for=198.51.100.7;proto=https";
        assert_eq!(of(value).as_deref(), Some("198.51.100.7"));
        assert_eq!(of(b"for=unknown"), None);
        assert_eq!(of(b"proto=https"), None);
    }
}
