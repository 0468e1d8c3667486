//! The forms that people leave in: one file each, one row in the table.

pub mod document;
mod keycloak;
pub mod signet;

use std::io::{self, Write};

use serde_json::Value;

use crate::report::{Report, Row};

/// A form that people are written in.
pub struct Form {
    /// Names it in commands.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// The file that it is written into; `.age` comes behind it where it is encrypted.
    pub file: &'static str,
    /// How the file is taken there.
    pub taken: &'static str,
    /// What leaves, and what does not.
    pub rows: &'static [Row],
    /// Begins a file.
    pub begin: fn(About) -> Box<dyn People>,
}

/// What the people of a file belong to.
pub struct About {
    /// Whether it has what people log in with.
    pub credentials: bool,
    /// Every group, as the admin API shows them.
    pub groups: Vec<Value>,
    /// Every role, as the admin API shows them.
    pub roles: Vec<Value>,
}

/// A file of people that is being written.
pub trait People {
    /// What stands before people.
    ///
    /// # Errors
    /// Those of `out`.
    fn head(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// One account, as `exportUsers` answers it. What is lost of it is reported.
    ///
    /// # Errors
    /// Those of `out`.
    fn person(
        &mut self,
        account: &Value,
        report: &mut Report,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// What stands behind people.
    ///
    /// # Errors
    /// Those of `out`.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

/// Every form.
pub const FORMS: &[Form] = &[signet::FORM, keycloak::FORM];
