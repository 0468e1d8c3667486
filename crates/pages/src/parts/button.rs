//! The button of a method of login.

/// A button that starts a method of login.
#[derive(Debug, Clone, Copy)]
pub struct MethodButton {
    /// The button's value of `decision`.
    pub decision: &'static str,
    /// Its text: an id.
    pub label: &'static str,
}
