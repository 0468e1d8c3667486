//! The servers that people come from: one file each, one row in the table.

mod auth0;
mod authentik;
mod keycloak;
mod ory;
mod pocket_id;
mod signet;
mod zitadel;

use std::path::Path;

use crate::moved::Moved;
use crate::read::{Opens, Part, ReadError, opens_nothing, parts};
use crate::report::Row;

/// A server that people come from.
pub struct Source {
    /// Names it in commands.
    pub name: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// Which file it takes, and how that is made.
    pub takes: &'static str,
    /// How the names of its files end, where it takes a directory.
    pub endings: &'static [&'static str],
    /// Folders in that directory that are read, too.
    pub folders: &'static [&'static str],
    /// What comes over, and what does not.
    pub rows: &'static [Row],
    /// Reads its files.
    pub read: fn(&[Part], &Options) -> Result<Moved, ReadError>,
}

/// What an export does not say, and its operator does.
#[derive(Clone, Default, Debug)]
pub struct Options {
    /// The relying party of passkeys whose export names none.
    pub rp_id: Option<String>,
}

/// Every source.
pub const SOURCES: &[&Source] = &[
    &keycloak::SOURCE,
    &authentik::SOURCE,
    &zitadel::SOURCE,
    &auth0::SOURCE,
    &pocket_id::SOURCE,
    &ory::SOURCE,
    &signet::SOURCE,
];

impl Source {
    /// The source of this name.
    pub fn named(name: &str) -> Option<&'static Source> {
        SOURCES.iter().copied().find(|source| source.name == name)
    }

    /// Reads a file, or a directory of them, none of which is encrypted.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_path(&self, path: &Path, options: &Options) -> Result<Moved, ReadError> {
        self.open_path(path, options, &opens_nothing)
    }

    /// Reads a file, or a directory of them; `opens`: those that are encrypted.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn open_path(
        &self,
        path: &Path,
        options: &Options,
        opens: Opens<'_>,
    ) -> Result<Moved, ReadError> {
        (self.read)(&parts(path, (self.endings, self.folders), opens)?, options)
    }
}

#[cfg(test)]
mod trial;
