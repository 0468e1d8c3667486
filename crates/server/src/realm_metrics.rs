//! Figures of the realms of a process.
use signet_realm::realms::{Realms, Table};
use signet_telemetry::metrics::{Family, table};

/// How many there are in which state, and the requests of each; nothing of a process with one.
pub(crate) fn families(realms: &Realms, slots: &Table) -> Vec<Family> {
    let (mut open, mut closed, mut suspended) = (0, 0, 0);
    for slot in slots.slots() {
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
    let states = Family::new(&table::REALMS);
    let states = states
        .of([("state", "open")], open)
        .of([("state", "closed")], closed)
        .of([("state", "suspended")], suspended);
    let requests = Family::new(&table::REALM_REQUESTS);
    let counted = realms.requests.all();
    let requests = counted.iter().fold(requests, |family, (name, count)| {
        family.of([("realm", name.as_str())], *count)
    });
    vec![states, requests]
}
