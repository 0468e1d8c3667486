//! A directory of declarations, as it was read.
use crate::mistake::Mistake;
use crate::node::{self, Member};
use crate::secrets::SecretPlace;
use signet_admin::{DECLARED, Declared};
use std::path::{Path, PathBuf};

/// An object that a file declares.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) declared: &'static Declared,
    pub(crate) name: String,
    /// For people.
    pub(crate) file: String,
    pub(crate) line: usize,
    /// Without its secret.
    pub(crate) members: Vec<Member>,
    pub(crate) secret: Option<(SecretPlace, usize)>,
    /// Something is wrong with it, or with what it names: it is not sent.
    pub(crate) broken: bool,
}

impl Object {
    pub(crate) fn is(&self, kind: &str, name: &str) -> bool {
        self.declared.kind() == kind && self.name == name
    }

    /// Where it stands, for people.
    pub(crate) fn place(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }

    pub(crate) fn mistake(&self, line: usize, what: impl Into<String>) -> Mistake {
        Mistake::new(&self.file, line, what)
    }

    /// The line of a member, or else of the object.
    pub(crate) fn line_of(&self, name: &str) -> usize {
        let secret = self.secret.as_ref().map(|(_, line)| *line);
        let secret = secret.filter(|_| self.declared.secret == Some(name));
        let member = node::member(&self.members, name).map(|member| member.line);
        member.or(secret).unwrap_or(self.line)
    }
}

/// A directory, or one file.
#[derive(Debug)]
pub(crate) struct Directory {
    /// The name that it owns objects by.
    pub(crate) name: String,
    pub(crate) objects: Vec<Object>,
    pub(crate) mistakes: Vec<Mistake>,
}

impl Directory {
    /// Whether it declares this, rightly or not.
    pub(crate) fn find(&self, kind: &str, name: &str) -> Option<&Object> {
        self.objects.iter().find(|object| object.is(kind, name))
    }
}

/// The kind whose tables have this name.
pub(crate) fn kind_of(table: &str) -> Option<&'static Declared> {
    DECLARED.iter().find(|declared| declared.table == table)
}

/// The file that names a directory.
pub(crate) const NAMING: &str = "signet-directory.toml";

/// The name of a directory that no file names: its own last part.
pub(crate) fn base_name(path: &Path) -> String {
    let whole = std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    let name = match whole.is_file() {
        true => whole.file_stem(),
        false => whole.file_name(),
    };
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let name = name.unwrap_or_default();
    let name: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect();
    match name.len() {
        0 => "directory".to_owned(),
        _ => name.chars().take(64).collect(),
    }
}
