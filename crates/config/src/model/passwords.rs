//! `[passwords]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_directory::PasswordPolicy;

/// What new passwords must be, beside what nobody may have: those that are guessed first, and those
/// with a name of the person or of this server in them.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Passwords {
    /// Shortest, in characters: 8 to 64.
    pub min_length: usize,
    /// Shortest of whoever may administer, in characters: 8 to 64.
    pub min_length_administrators: usize,
}

impl Default for Passwords {
    fn default() -> Self {
        let policy = PasswordPolicy::default();
        Passwords {
            min_length: policy.min_chars,
            min_length_administrators: policy.min_chars_of_administrators,
        }
    }
}
