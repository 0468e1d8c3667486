//! What people read, in their language: Fluent messages by area, and the choice of the language.
//!
//! The texts are `locales/TAG/AREA.ftl`, English first; they are compiled in, and a language is
//! parsed once, at its first use. Fluent is here for what a table of texts cannot do: plurals and
//! the order of words are the language's own.
//!
//! A text is no markup. What is interpolated is not interpreted, by Fluent or by anything here: the
//! layer that writes HTML escapes both (`signet-pages`).
#![forbid(unsafe_code)]

mod catalogue;
mod choose;
mod languages;
mod own;

pub use catalogue::Arg;
pub use choose::Wishes;
pub use languages::{LANGUAGES, Language};
pub use own::{MAX_OWN_TEXT_BYTES, MAX_OWN_TEXTS, OwnTexts};

#[cfg(test)]
mod tests;
