//! Members of a stored record that this version does not know.
//!
//! A later version may have written them, on another node or before this program was taken back.
//! They are kept and written back: a change here must not undo what was said there. A kind of
//! credential that is not known is another matter: it may be a second factor, so the account cannot
//! be read here at all, and nobody logs in with half of what it asks for.
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// What a record has beside the members of its type: flattened into it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unknown(Map<String, Value>);

impl Unknown {
    /// Takes out a member that only earlier versions have.
    pub(crate) fn take(&mut self, member: &str) -> Option<Value> {
        self.0.remove(member)
    }
}

// What it says is nobody's to print: it may be secret.
impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
