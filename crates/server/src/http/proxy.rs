//! What a reverse proxy says about the real client. Believed only from addresses that the configuration names.
use crate::state::{ForwardedHeader, Policy};
use http::HeaderMap;
use signet_crypto::certificate::ClientCertificate;
use signet_http::{PresentedCertificate, certificate::der_of_field};
use std::net::IpAddr;

/// The client's address: the right-most entry that is not itself a trusted proxy. What stands further left was written by
/// the client. Anything that is no address ends the search at the last hop that is known.
pub(crate) fn client_address(socket: IpAddr, headers: &HeaderMap, policy: &Policy) -> IpAddr {
    if !policy.is_trusted_proxy(socket) {
        return socket;
    }
    let mut address = socket;
    for hop in hops(headers, policy.forwarded).into_iter().rev() {
        let Some(hop) = hop else { break };
        address = hop;
        if !policy.is_trusted_proxy(hop) {
            break;
        }
    }
    address
}

fn hops(headers: &HeaderMap, which: ForwardedHeader) -> Vec<Option<IpAddr>> {
    let name = match which {
        ForwardedHeader::XForwardedFor => "x-forwarded-for",
        ForwardedHeader::Forwarded => "forwarded",
    };
    headers
        .get_all(name)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .map(|element| match which {
            ForwardedHeader::XForwardedFor => parse_node(element.trim()),
            // RFC 7239 section 4: for=192.0.2.1;proto=https
            ForwardedHeader::Forwarded => element.split(';').find_map(|pair| {
                let (key, value) = pair.trim().split_once('=')?;
                key.eq_ignore_ascii_case("for").then(|| parse_node(value))?
            }),
        })
        .collect()
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

/// The client certificate that a trusted proxy hands over in the configured header: RFC 9440 (`:base64:`), plain base64
/// DER, or PEM in percent-encoding (nginx).
pub(crate) fn client_certificate(
    socket: IpAddr,
    headers: &HeaderMap,
    policy: &Policy,
) -> Option<PresentedCertificate> {
    let name = policy.client_certificate_header.as_deref()?;
    if !policy.is_trusted_proxy(socket) {
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

    fn policy(forwarded: ForwardedHeader) -> Policy {
        Policy {
            trusted_proxies: vec!["10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap()],
            forwarded,
            ..Policy::default()
        }
    }
    fn seen(socket: &str, value: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", value.parse().unwrap());
        let policy = policy(ForwardedHeader::XForwardedFor);
        client_address(socket.parse().unwrap(), &headers, &policy).to_string()
    }

    #[test]
    fn only_a_named_proxy_is_believed_and_only_its_own_entry() {
        assert_eq!(seen("192.0.2.9", "203.0.113.1"), "192.0.2.9");
        assert_eq!(seen("10.0.0.1", "203.0.113.1"), "203.0.113.1");
        // The client wrote the left entries.
        assert_eq!(seen("10.0.0.1", "198.51.100.7, 203.0.113.1"), "203.0.113.1");
        assert_eq!(seen("10.0.0.1", "203.0.113.1, 10.0.0.2"), "203.0.113.1");
        assert_eq!(seen("10.0.0.1", "203.0.113.1, unknown"), "10.0.0.1");
        assert_eq!(seen("10.0.0.1", "\"[2001:db8::1]:80\""), "2001:db8::1");
    }

    #[test]
    fn forwarded_reads_its_for_parameter() {
        let mut headers = HeaderMap::new();
        let value = "for=198.51.100.7, For=\"[2001:db8::17]\";proto=https";
        headers.insert("forwarded", value.parse().unwrap());
        let policy = policy(ForwardedHeader::Forwarded);
        let got = client_address("10.0.0.1".parse().unwrap(), &headers, &policy);
        assert_eq!(got.to_string(), "2001:db8::17");
    }
}
