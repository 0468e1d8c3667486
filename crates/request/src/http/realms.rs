//! Which realm a request is for, by the name that it asks and by its path.
use super::{
    authority::{asked_name, name_of},
    context::path_of,
    places::{Address, Index, Ranked},
};
use http::{HeaderMap, Uri};
use signet_realm::realms::{Slot, Table};
use signet_realm::state::Realm;
use std::{ops::Range, sync::Arc};

/// Where a request goes.
#[derive(Clone)]
pub(super) enum Place {
    /// To a realm that is there.
    Realm {
        /// That realm.
        realm: Arc<Realm>,
        /// The first one's is 0; the others were given in this order.
        order: usize,
    },
    /// To one that is opened by the first request.
    Slot(Arc<Slot>),
}

impl Ranked for Place {
    /// Those that are there come first; then those with a record, by the name of their rows.
    fn rank(&self) -> (usize, &str) {
        match self {
            Place::Realm { order, .. } => (*order, ""),
            Place::Slot(slot) => (usize::MAX, slot.entry().id()),
        }
    }
}

/// The places of the realms of a process.
///
/// A request finds its realm by a look at its name, and one for each segment that the issuers'
/// paths have: as cheap among ten thousand as among two. Where a realm comes, goes or changes, the
/// next places are made of these, and share with them what stays.
pub(super) struct Places {
    /// What they were made of.
    table: Arc<Table>,
    there: There,
    index: Index<Place>,
    /// What belongs to the process is answered by the first.
    first: Place,
    /// The path of the only one's issuer, where there is one realm.
    only: Option<String>,
}

/// What is known of the realms that are there, which no record says.
#[derive(PartialEq, Eq)]
struct There {
    first: Address,
    given: Vec<Address>,
    /// The first one's other names: a realm with a path is found under them too.
    aliases: Vec<String>,
}

impl There {
    fn of(first: &Realm, table: &Table) -> There {
        let given = table.given().iter();
        let snapshot = first.snapshot();
        let settings = &snapshot.settings;
        let aliases = [settings.mtls_base.as_ref(), settings.node_base.as_ref()];
        let aliases = aliases.into_iter().flatten();
        There {
            first: address_of_realm(first),
            given: given.map(|realm| address_of_realm(realm)).collect(),
            aliases: aliases.filter_map(|base| name_of(base)).collect(),
        }
    }

    fn address_of_slot(&self, slot: &Slot) -> Address {
        let issuer = &slot.entry().issuer;
        let prefix = path_of(issuer);
        let aliases = self.aliases.iter().filter(|_| !prefix.is_empty());
        Address::new(name_of(issuer).into_iter().chain(aliases.cloned()), prefix)
    }

    /// A place is found at another address where its record is another one.
    fn follow(&self, index: &mut Index<Place>, was: Option<&Arc<Slot>>, is: Option<&Arc<Slot>>) {
        if let Some(was) = was {
            index.take(&self.address_of_slot(was), &Place::Slot(Arc::clone(was)));
        }
        if let Some(is) = is {
            index.put(&self.address_of_slot(is), &Place::Slot(Arc::clone(is)));
        }
    }
}

impl Places {
    /// `first` answers for the process (health, metrics), and for names that no issuer has.
    pub(super) fn new(first: &Arc<Realm>, table: Arc<Table>) -> Places {
        let there = There::of(first, &table);
        let place = |order: usize, realm: &Arc<Realm>| Place::Realm {
            realm: Arc::clone(realm),
            order,
        };
        let place_of_first = place(0, first);
        let mut index = Index::of(&there.first, &place_of_first);
        for (at, (address, realm)) in there.given.iter().zip(table.given().iter()).enumerate() {
            index.put(address, &place(at + 1, realm));
        }
        for slot in table.slots() {
            there.follow(&mut index, None, Some(slot));
        }
        Places::of(table, there, index, place_of_first)
    }

    /// The places of another table.
    pub(super) fn next(&self, first: &Arc<Realm>, table: Arc<Table>) -> Places {
        let there = There::of(first, &table);
        // Then every address may be another one.
        if there != self.there || !Arc::ptr_eq(table.given(), self.table.given()) {
            return Places::new(first, table);
        }
        let mut index = self.index.clone();
        for (was, is) in table.changes_since(&self.table) {
            there.follow(&mut index, was, is);
        }
        Places::of(table, there, index, self.first.clone())
    }

    fn of(table: Arc<Table>, there: There, index: Index<Place>, first: Place) -> Places {
        let alone = table.given().is_empty() && table.slots().next().is_none();
        Places {
            only: alone.then(|| there.first.prefix.clone()),
            table,
            there,
            index,
            first,
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
        let places = self.index.at(asked.as_deref());
        // The longest path first, so that the realm `/a/b` is found before `/a`.
        let prefixes = prefixes(path, self.index.deepest());
        prefixes.into_iter().find_map(|prefix| {
            let place = places.get(prefix)?;
            Some((place, below_issuer(path, prefix)?))
        })
    }
}

fn address_of_realm(realm: &Realm) -> Address {
    let snapshot = realm.snapshot();
    let settings = &snapshot.settings;
    let bases = [
        Some(&settings.issuer),
        settings.mtls_base.as_ref(),
        settings.node_base.as_ref(),
    ];
    let names = bases.into_iter().flatten();
    Address::new(
        names.filter_map(|base| name_of(base)),
        path_of(&settings.issuer),
    )
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
