//! Figures of the realms of a process.
use signet_http::metrics::Family;
use signet_realm::realms::{Realms, Table};

/// How many there are in which state, and the requests of each; nothing of a process with one.
pub(crate) fn families(realms: &Realms, table: &Table) -> Vec<Family> {
    let (mut open, mut closed, mut suspended) = (0, 0, 0);
    for slot in table.slots() {
        let state = match (slot.entry().answers(), slot.opened()) {
            (false, _) => &mut suspended,
            (true, Some(_)) => &mut open,
            (true, None) => &mut closed,
        };
        *state += 1;
    }
    if open + closed + suspended == 0 {
        return Vec::new();
    }
    let states = Family::gauge(
        "signet_realms",
        "Realms beside the first: open, closed until the next request, suspended.",
    );
    let states = states
        .of([("state", "open")], open)
        .of([("state", "closed")], closed)
        .of([("state", "suspended")], suspended);
    let requests = Family::counter(
        "signet_realm_requests",
        "Requests for realms beside the first, by realm.",
    );
    let counted = realms.requests.all();
    let requests = counted.iter().fold(requests, |family, (name, count)| {
        family.of([("realm", name.as_str())], *count)
    });
    vec![states, requests]
}
