//! Who asks: the relying party's id, and the origins whose pages may ask for it.

use signet_crypto::hash::sha256;

/// The relying party of one issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelyingParty {
    id: String,
    id_hash: [u8; 32],
    origins: Vec<String>,
}

impl RelyingParty {
    /// Of an issuer, whose host is the id; and with related origins (section 5.11), as browsers
    /// write them: `https://host[:port]`, lower case, without the scheme's own port. None: the
    /// issuer's host is an address, for which no browser makes a credential (section 5.1.3).
    pub fn of_issuer(issuer: &str, related: &[String]) -> Option<RelyingParty> {
        let (scheme, rest) = issuer.split_once("://")?;
        let authority = rest.split('/').next().unwrap_or(rest);
        let host = match authority.rsplit_once(':') {
            // An IPv6 address in brackets is no domain.
            _ if authority.starts_with('[') => return None,
            Some((host, _)) => host,
            None => authority,
        };
        let is_address = host.parse::<std::net::Ipv4Addr>().is_ok();
        if host.is_empty() || is_address {
            return None;
        }
        let id = host.to_ascii_lowercase();
        let own = format!("{scheme}://{}", authority.to_ascii_lowercase());
        let own = own.strip_suffix(":443").unwrap_or(&own).to_owned();
        let mut origins = vec![own];
        origins.extend_from_slice(related);
        Some(RelyingParty {
            id_hash: sha256(id.as_bytes()),
            id,
            origins,
        })
    }

    /// With the origin of another base of the same host, as a node of several has: a domain's
    /// credentials are those of all its ports (section 5.1.4.1). That of another host is not taken.
    #[must_use]
    pub fn also_at(mut self, base: &str) -> RelyingParty {
        if let Some(other) = RelyingParty::of_issuer(base, &[])
            && other.id == self.id
        {
            let new = |origin: &String| !self.origins.contains(origin);
            let added: Vec<String> = other.origins.into_iter().filter(new).collect();
            self.origins.extend(added);
        }
        self
    }

    /// The domain.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its SHA-256: what authenticators sign.
    pub fn id_hash(&self) -> &[u8; 32] {
        &self.id_hash
    }

    /// Whose pages may ask, the issuer's own first.
    pub fn origins(&self) -> &[String] {
        &self.origins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_the_issuers_host_and_the_origin_what_a_browser_calls_it() {
        let rows = [
            ("https://id.example", "id.example", "https://id.example"),
            (
                "https://ID.Example:443/t",
                "id.example",
                "https://id.example",
            ),
            (
                "https://localhost:8443",
                "localhost",
                "https://localhost:8443",
            ),
            (
                "https://id.example/realm",
                "id.example",
                "https://id.example",
            ),
        ];
        for (issuer, id, origin) in rows {
            let party = RelyingParty::of_issuer(issuer, &[]).expect("a domain");
            assert_eq!((party.id(), &*party.origins()[0]), (id, origin));
        }
    }

    #[test]
    fn a_node_has_the_origin_of_its_own_port_and_no_other_host() {
        let party = RelyingParty::of_issuer("https://localhost:8443", &[]).expect("a domain");
        let origins = |base| party.clone().also_at(base).origins().to_vec();
        let both = ["https://localhost:8443", "https://localhost:8444"];
        assert_eq!(origins("https://LOCALHOST:8444"), both);
        for none in [
            "https://localhost:8443",
            "https://elsewhere.example:8444",
            "https://a.localhost:8444",
            "https://127.0.0.1:8444",
        ] {
            assert_eq!(origins(none), both[..1], "{none}");
        }
    }

    #[test]
    fn an_address_is_no_relying_party() {
        for issuer in ["https://127.0.0.1:8443", "https://[::1]:8443", "nonsense"] {
            assert_eq!(RelyingParty::of_issuer(issuer, &[]), None, "{issuer}");
        }
    }
}
