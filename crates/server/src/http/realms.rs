//! Which realm a request is for, by the name that it asks and by its path.
use super::{
    authority::{asked_name, name_of},
    context::path_of,
};
use crate::state::Realm;
use http::{HeaderMap, Uri};
use std::{ops::Range, sync::Arc};

/// One realm's place: where its issuer lies.
struct Place {
    /// The authorities of the issuer and of its mTLS alias.
    names: Vec<String>,
    /// The issuer's path; empty where it has none.
    prefix: String,
    realm: Arc<Realm>,
}

/// The realms of a process. Issuers never change, so this is made once for a set of realms.
pub(super) struct Realms {
    /// Those with the longest path first, so that the realm `/a/b` is found before `/a`.
    places: Vec<Place>,
    /// What belongs to the process is answered by the first.
    first: Arc<Realm>,
}

impl Realms {
    /// `first` answers for the process (health, metrics), and for names that no issuer has.
    pub(super) fn new(first: Arc<Realm>, others: Vec<Arc<Realm>>) -> Realms {
        let mut places: Vec<Place> = std::iter::once(first.clone())
            .chain(others)
            .map(Place::of)
            .collect();
        // Stable: of two with one path, the one that was named first.
        places.sort_by_key(|place| std::cmp::Reverse(place.prefix.len()));
        Realms { places, first }
    }

    pub(super) fn first(&self) -> &Arc<Realm> {
        &self.first
    }

    /// The realm, and where in the path the part below its issuer is. `None`: no realm has this
    /// path.
    ///
    /// A process with one realm answers whatever name was asked: behind a proxy, and on a
    /// developer's machine, it is often not the issuer's. Among several the name decides; a name
    /// that none has is as the first one's.
    pub(super) fn find(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Option<(&Arc<Realm>, Range<usize>)> {
        let path = uri.path();
        if let [only] = &*self.places {
            return below_issuer(path, &only.prefix).map(|path| (&only.realm, path));
        }
        if belongs_to_process(path) {
            return Some((&self.first, 0..path.len()));
        }
        let asked = asked_name(uri, headers);
        let has = |place: &Place, name: &str| place.names.iter().any(|own| own == name);
        let known = asked.filter(|name| self.places.iter().any(|place| has(place, name)));
        let fits = |place: &&Place| match &known {
            Some(name) => has(place, name),
            None => self.shares_name_with_first(place),
        };
        let mut fitting = self.places.iter().filter(fits);
        fitting.find_map(|place| Some((&place.realm, below_issuer(path, &place.prefix)?)))
    }

    fn shares_name_with_first(&self, place: &Place) -> bool {
        let first = self
            .places
            .iter()
            .find(|place| Arc::ptr_eq(&place.realm, &self.first));
        first.is_some_and(|first| first.names.iter().any(|name| place.names.contains(name)))
    }
}

impl Place {
    fn of(realm: Arc<Realm>) -> Place {
        let snapshot = realm.snapshot();
        let settings = &snapshot.settings;
        let bases = [
            Some(&settings.issuer),
            settings.mtls_base.as_ref(),
            settings.node_base.as_ref(),
        ];
        Place {
            names: bases
                .into_iter()
                .flatten()
                .filter_map(|b| name_of(b))
                .collect(),
            prefix: path_of(&settings.issuer).to_owned(),
            realm,
        }
    }
}

/// Health and metrics belong to the process, not to an issuer.
fn belongs_to_process(path: &str) -> bool {
    path.starts_with("/health/") || path == "/metrics"
}

/// Where the path below the issuer's own is. Well-known documents of an issuer with a path are
/// found in both places: RFC 8414 section 3 puts the issuer's path behind them, OpenID Connect
/// Discovery in front.
fn below_issuer(path: &str, prefix: &str) -> Option<Range<usize>> {
    if prefix.is_empty() || belongs_to_process(path) {
        return Some(0..path.len());
    }
    if path.starts_with("/.well-known/") {
        return path.strip_suffix(prefix).map(|below| 0..below.len());
    }
    let below = path.strip_prefix(prefix)?;
    (below.is_empty() || below.starts_with('/')).then_some(prefix.len()..path.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_with_a_path_is_found_in_both_well_known_forms() {
        let at = |path: &str| below_issuer(path, "/tenant").map(|below| path[below].to_owned());
        let doc = "/.well-known/openid-configuration";
        assert_eq!(at("/tenant/token").as_deref(), Some("/token"));
        assert_eq!(
            at("/tenant/.well-known/openid-configuration").as_deref(),
            Some(doc)
        );
        assert_eq!(
            at("/.well-known/openid-configuration/tenant").as_deref(),
            Some(doc)
        );
        assert_eq!(at("/token"), None);
        assert_eq!(at("/tenants/token"), None);
        assert_eq!(at("/.well-known/openid-configuration"), None);
        assert_eq!(at("/health/live").as_deref(), Some("/health/live"));
    }

    #[test]
    fn names_are_compared_without_case_and_default_port() {
        let asked = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(http::header::HOST, host.parse().expect("a value"));
            asked_name(&Uri::from_static("/"), &headers)
        };
        let issuer = name_of("https://Id.example/a");
        for host in ["id.example", "ID.EXAMPLE:443"] {
            assert_eq!(asked(host), issuer);
        }
        assert_ne!(asked("id.example:8443"), issuer);
    }
}
