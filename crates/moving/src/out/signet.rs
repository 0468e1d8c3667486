//! Signet's own form: JSON Lines. The first line says what the file is, then comes one account a
//! line, and the last line says how many there were, so that a file that was cut off is known.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{About, Form, People};
use crate::report::{Fate, Report, Row};

/// The version of the form. A later one adds members; one that changes what a member means has
/// another number.
pub const VERSION: u64 = 1;

pub(super) const FORM: Form = Form {
    name: "signet",
    title: "Signet",
    file: "people.jsonl",
    taken: "`signet apply DIR` makes what people name, with the declarations that the same export wrote, then `signet import signet DIR` makes the people.",
    rows: ROWS,
    begin: |about| Box::new(Lines { about, count: 0 }),
};

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { what: "Accounts: id, names, address, profile, state, times, terms", fate: Fate::Comes, note: "As they are. The id is kept, so `sub` stays the same." },
    Row { what: "Groups, roles, attributes", fate: Fate::Comes, note: "By their names, which the declarations make." },
    Row { what: "Password hashes", fate: Fate::Comes, note: "With `--with-credentials`." },
    Row { what: "Code apps", fate: Fate::Comes, note: "With `--with-credentials`, with algorithm, digits and period." },
    Row { what: "Passkeys", fate: Fate::Comes, note: "With `--with-credentials`. They work where the issuer has the same host." },
    Row { what: "Links to identity providers", fate: Fate::Comes, note: "Where a provider of the name is there." },
    Row { what: "Consents", fate: Fate::InPart, note: "Scopes. Single claims that were agreed to are asked for again." },
    Row { what: "Recovery codes, remembered browsers", fate: Fate::Stays, note: "Their person makes them again." },
    Row { what: "Sessions, grants, tokens", fate: Fate::Stays, note: "People log in again." },
    Row { what: "Ids that SCIM gave accounts", fate: Fate::Stays, note: "The provisioning client finds an account by its name, and gives it again." },
];

struct Lines {
    about: About,
    count: u64,
}

fn line(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

impl People for Lines {
    fn head(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let credentials = self.about.credentials;
        line(
            out,
            &json!({ "signet": "people", "version": VERSION, "credentials": credentials }),
        )
    }

    fn person(&mut self, account: &Value, _: &mut Report, out: &mut dyn Write) -> io::Result<()> {
        self.count += 1;
        line(out, account)
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        line(out, &json!({ "end": "people", "count": self.count }))
    }
}
