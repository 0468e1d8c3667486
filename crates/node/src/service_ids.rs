//! The numbers of the services that nodes offer each other over their streams.

/// Messages of the store's consensus; urgent.
pub(crate) const CONSENSUS: u8 = 1;
/// How far members are, before anything of the consensus passes between them.
pub(crate) const GREETING: u8 = 2;
/// A node that joined asks to be given the store.
pub(crate) const ADMISSION: u8 = 64;
/// What the readers of a node's stream of revocations have in effect.
pub(crate) const READERS: u8 = 65;
/// Sealing keys of another node.
pub(crate) const SEALING: u8 = 66;
/// What a reader of a node's stream of revocations acknowledged at another node.
pub(crate) const ACKNOWLEDGED: u8 = 67;
/// A question for a node with which only the hubs are connected.
pub(crate) const PASSED_ON: u8 = 68;
/// Counts of another node's budgets.
pub(crate) const SPENT: u8 = 69;
/// Snapshots of the store; large, and not urgent.
pub(crate) const SNAPSHOTS: u8 = 192;

/// One number, one service.
const _: () = {
    let all = [
        CONSENSUS,
        GREETING,
        ADMISSION,
        READERS,
        SEALING,
        ACKNOWLEDGED,
        PASSED_ON,
        SPENT,
        SNAPSHOTS,
    ];
    let mut one = 0;
    while one < all.len() {
        let mut other = one + 1;
        while other < all.len() {
            assert!(all[one] != all[other]);
            other += 1;
        }
        one += 1;
    }
};
