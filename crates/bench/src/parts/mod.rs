//! What a run is made of: one file a part, one row in the table.

pub mod benches;
pub mod claims;
pub mod grid;
pub mod load;
pub mod logout;
pub mod memory;
pub mod peers;
pub mod sizes;

use crate::run::Part;

/// All parts, in the order of the report.
pub const TABLE: [&Part; 8] = [
    &grid::PART,
    &load::PART,
    &claims::PART,
    &logout::PART,
    &memory::PART,
    &sizes::PART,
    &benches::PART,
    &peers::PART,
];

/// The titles of the report, in its order: the parts', and those of rows that benches measured.
#[must_use]
pub fn titles() -> Vec<(&'static str, &'static str)> {
    let parts = TABLE.iter().map(|part| (part.name, part.title));
    let benches = benches::TABLE.iter().map(|bench| (bench.name, bench.title));
    parts.chain(benches).collect()
}
