//! What keeps the state of the nodes under test.

/// What keeps the state.
#[derive(Clone, Copy)]
pub enum Engine<'a> {
    /// Each node's own store: of several nodes, replicated by consensus.
    Embedded,
    /// A database, by its URL.
    Postgres(&'a str),
}
