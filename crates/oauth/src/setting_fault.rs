//! What is wrong with a setting.

/// A setting that cannot be served, by the name that the configuration has for it
/// (`lifetimes.code`), and why not: a predicate for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingFault {
    /// The setting.
    pub path: String,
    /// "must be from 5 to 600 seconds, not 601"
    pub message: String,
}
