//! Which realm a request is for, by the name that it asks and by its path.
use super::{
    authority::{asked_name, name_of},
    context::path_of,
};
use http::{HeaderMap, Uri};
use signet_oauth::registry::RealmEntry;
use signet_realm::realms::{Slot, Table};
use signet_realm::state::Realm;
use std::{collections::HashMap, ops::Range, sync::Arc};

/// Where a request goes.
#[derive(Clone)]
pub(super) enum Place {
    /// To a realm that is there.
    Realm(Arc<Realm>),
    /// To one that is opened by the first request.
    Slot(Arc<Slot>),
}

/// The places of the realms of a process, made once for what there is of them.
///
/// A request finds its realm by a look at its name, and one for each segment that the issuers'
/// paths have: as cheap among ten thousand as among two.
pub(super) struct Places {
    /// What they were made of.
    table: Arc<Table>,
    /// By the authorities of the issuer and of its aliases, and then by the issuer's path; empty
    /// where it has none.
    places: HashMap<String, HashMap<String, Place>>,
    /// The realms that share a name with the first one: those of requests for a name that no
    /// issuer has.
    nameless: HashMap<String, Place>,
    /// What belongs to the process is answered by the first.
    first: Place,
    /// The path of the only one's issuer, where there is one realm.
    only: Option<String>,
    /// Segments of the longest path of an issuer: a request's path is not looked at further.
    deepest: usize,
}

/// A realm's authorities and the path of its issuer.
struct Address {
    names: Vec<String>,
    prefix: String,
    place: Place,
}

impl Places {
    /// `first` answers for the process (health, metrics), and for names that no issuer has.
    pub(super) fn new(first: &Arc<Realm>, table: Arc<Table>) -> Places {
        let given = table.given().iter().map(address_of_realm);
        let slots = table.slots().map(|slot| address_of_slot(first, slot));
        let others: Vec<Address> = given.chain(slots).collect();
        let own = address_of_realm(first);
        let only = others.is_empty().then(|| own.prefix.clone());
        let names_of_first = own.names.clone();
        let mut places: HashMap<String, HashMap<String, Place>> = HashMap::new();
        let mut nameless = HashMap::new();
        let mut deepest = 0;
        for Address {
            names,
            prefix,
            place,
        } in std::iter::once(own).chain(others)
        {
            deepest = deepest.max(prefix.matches('/').count());
            // Of two with one place, the one that was named first.
            if names.iter().any(|name| names_of_first.contains(name)) {
                let nameless = nameless.entry(prefix.clone());
                nameless.or_insert_with(|| place.clone());
            }
            for name in names {
                let of_name = places.entry(name).or_default();
                let of_name = of_name.entry(prefix.clone());
                of_name.or_insert_with(|| place.clone());
            }
        }
        Places {
            table,
            places,
            nameless,
            first: Place::Realm(Arc::clone(first)),
            only,
            deepest,
        }
    }

    /// What they were made of.
    pub(super) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The realm, and where in the path the part below its issuer is. `None`: no realm has this
    /// path.
    ///
    /// A process with one realm answers whatever name was asked: behind a proxy, and on a
    /// developer's machine, it is often not the issuer's. Among several the name decides; a name
    /// that none has is as the first one's.
    pub(super) fn find(&self, uri: &Uri, headers: &HeaderMap) -> Option<(&Place, Range<usize>)> {
        let path = uri.path();
        if let Some(prefix) = &self.only {
            return below_issuer(path, prefix).map(|path| (&self.first, path));
        }
        if belongs_to_process(path) {
            return Some((&self.first, 0..path.len()));
        }
        let asked = asked_name(uri, headers);
        let of_name = asked.and_then(|name| self.places.get(&name));
        let places = of_name.unwrap_or(&self.nameless);
        // The longest path first, so that the realm `/a/b` is found before `/a`.
        let prefixes = prefixes(path, self.deepest);
        prefixes.into_iter().find_map(|prefix| {
            let place = places.get(prefix)?;
            Some((place, below_issuer(path, prefix)?))
        })
    }
}

fn address_of_realm(realm: &Arc<Realm>) -> Address {
    let snapshot = realm.snapshot();
    let settings = &snapshot.settings;
    let bases = [
        Some(&settings.issuer),
        settings.mtls_base.as_ref(),
        settings.node_base.as_ref(),
    ];
    let names = bases.into_iter().flatten();
    Address {
        names: names.filter_map(|base| name_of(base)).collect(),
        prefix: path_of(&settings.issuer).to_owned(),
        place: Place::Realm(Arc::clone(realm)),
    }
}

/// A realm with a path is found under the aliases of the first one too.
fn address_of_slot(first: &Realm, slot: &Arc<Slot>) -> Address {
    let RealmEntry { issuer, .. } = &**slot.entry();
    let prefix = path_of(issuer).to_owned();
    let snapshot = first.snapshot();
    let settings = &snapshot.settings;
    let aliases = [settings.mtls_base.as_ref(), settings.node_base.as_ref()];
    let aliases = aliases.into_iter().flatten().filter(|_| !prefix.is_empty());
    let bases = std::iter::once(issuer).chain(aliases);
    Address {
        names: bases.filter_map(|base| name_of(base)).collect(),
        prefix,
        place: Place::Slot(Arc::clone(slot)),
    }
}

/// The paths that an issuer of at most `deepest` segments may have for a request to lie below it,
/// the longest first.
fn prefixes(path: &str, deepest: usize) -> Vec<&str> {
    let mut found = vec![""];
    match path.strip_prefix("/.well-known/") {
        // Behind the document's name.
        Some(rest) => {
            let starts = rest.rmatch_indices('/').take(deepest);
            found.extend(starts.map(|(at, _)| &rest[at..]));
        }
        None => {
            let slashes = path.match_indices('/').skip(1).map(|(at, _)| at);
            let ends = slashes.chain([path.len()]).take(deepest);
            found.extend(ends.map(|end| &path[..end]));
        }
    }
    found.reverse();
    found
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
    fn a_path_is_tried_from_the_longest_issuer_down_and_no_more_often_than_issuers_have_segments() {
        let of = |path: &'static str| prefixes(path, 2);
        assert_eq!(of("/a/token"), ["/a/token", "/a", ""]);
        assert_eq!(of("/a/b/token/more"), ["/a/b", "/a", ""]);
        assert_eq!(of("/a"), ["/a", ""]);
        assert_eq!(of("/"), ["/", ""]);
        let document = "/.well-known/openid-configuration";
        assert_eq!(of(document), [""]);
        assert_eq!(
            of("/.well-known/openid-configuration/a/b"),
            ["/a/b", "/b", ""]
        );
        // Who sends a path of thousands of segments causes no more looks than others.
        let long = "/x".repeat(4000);
        assert_eq!(prefixes(&long, 2).len(), 3);
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
