//! What travels between nodes.

/// One statement about one thing: a fragment of its state, which whoever hears it merges into what
/// they know. Hearing it twice, or late, is harmless.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Whose realm it is in; empty: the default realm's.
    pub realm: String,
    /// What kind of thing, a number that the registry gives out (`signet_registry`'s table of
    /// kinds).
    pub kind: u8,
    /// Its name within the kind.
    pub name: Vec<u8>,
    /// The fragment, opaque here.
    pub fragment: Vec<u8>,
    /// Unix seconds after which it concerns nothing any more; such an entry is forgotten.
    pub end: Option<u64>,
}
