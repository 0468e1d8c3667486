//! Numbered schemas: how the layout of a store changes while programs of two versions use it.
//!
//! A step adds what the program of its number needs ([`Migration::expand`]), and leaves what the
//! program before it uses. What that one alone used is removed by the step after it
//! ([`Migration::contract`]). So a program works on its own schema and on the next, never on an
//! older one and never on one two steps ahead: migrate first, then start the new program, and
//! migrate again only when no program of two versions ago is left.
use std::fmt;

/// One numbered step of an engine's schema.
#[derive(Clone, Copy)]
pub struct Migration {
    /// The schema's version after it.
    pub version: u32,
    /// What it does, for people.
    pub name: &'static str,
    /// Statements that may take long, each by itself and before the rest, while others work.
    /// They may be done again, so they begin with removing what an earlier try left behind.
    pub apart: fn() -> Vec<String>,
    /// Statements that add, all in one transaction, each of them brief.
    pub expand: fn() -> Vec<String>,
    /// Statements that remove what the program of this version uses no more, but the one before it
    /// did. They are done by the next step.
    pub contract: fn() -> Vec<String>,
}

impl PartialEq for Migration {
    fn eq(&self, other: &Migration) -> bool {
        (self.version, self.name) == (other.version, other.name)
    }
}

impl Eq for Migration {}

impl fmt::Debug for Migration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Migration({}, {:?})", self.version, self.name)
    }
}

/// No statements.
pub fn nothing() -> Vec<String> {
    Vec::new()
}

/// The version that a list of steps leads to; 0 for none.
pub const fn known(steps: &[Migration]) -> u32 {
    match steps {
        [] => 0,
        [.., last] => last.version,
    }
}

/// What the transaction of a step does: what is left of the step before is removed first.
pub(crate) fn statements(steps: &[Migration], version: u32) -> Vec<String> {
    let of = |version: u32| steps.iter().find(|step| step.version == version);
    let before = version.checked_sub(1).and_then(of);
    let mut all = before.map_or_else(Vec::new, |step| (step.contract)());
    all.extend(of(version).map_or_else(Vec::new, |step| (step.expand)()));
    all
}

/// How a store's schema stands to a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaStatus {
    /// The schema's version; 0: no schema yet.
    pub found: u32,
    /// The steps that the program knows.
    pub steps: &'static [Migration],
}

/// Why a program cannot work on a schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchemaMismatch {
    /// The schema is older than the program's.
    Old,
    /// The schema is two steps ahead of the program's, or more.
    New,
}

impl SchemaStatus {
    /// The program's own version.
    pub fn known(&self) -> u32 {
        known(self.steps)
    }

    /// The steps that are missing.
    pub fn pending(&self) -> &'static [Migration] {
        let done = self.steps.iter().filter(|m| m.version <= self.found);
        &self.steps[done.count()..]
    }

    /// Whether the program can work on it: it is the program's own, or the next.
    ///
    /// # Errors
    /// [`SchemaMismatch`]
    pub fn accept(&self) -> Result<(), SchemaMismatch> {
        match self.found {
            found if found < self.known() => Err(SchemaMismatch::Old),
            found if found > self.known() + 1 => Err(SchemaMismatch::New),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    const STEPS: &[Migration] = &[
        Migration {
            version: 1,
            name: "one",
            apart: nothing,
            expand: || says("add 1"),
            contract: || says("remove what 0 used"),
        },
        Migration {
            version: 2,
            name: "two",
            apart: nothing,
            expand: || says("add 2"),
            contract: || says("remove what 1 used"),
        },
        Migration {
            version: 3,
            name: "three",
            apart: nothing,
            expand: || says("add 3"),
            contract: nothing,
        },
    ];

    #[test]
    fn what_a_program_still_uses_is_removed_one_step_later() {
        assert_eq!(statements(STEPS, 1), ["add 1"]);
        assert_eq!(statements(STEPS, 2), ["remove what 0 used", "add 2"]);
        assert_eq!(statements(STEPS, 3), ["remove what 1 used", "add 3"]);
    }

    #[test]
    fn a_program_works_on_its_own_schema_and_the_next_and_on_no_other() {
        let at = |found| SchemaStatus {
            found,
            steps: &STEPS[..2],
        };
        assert_eq!(at(0).accept(), Err(SchemaMismatch::Old));
        assert_eq!(at(1).accept(), Err(SchemaMismatch::Old));
        assert_eq!((at(2).accept(), at(3).accept()), (Ok(()), Ok(())));
        assert_eq!(at(4).accept(), Err(SchemaMismatch::New));
        assert_eq!(at(1).pending(), &STEPS[1..2]);
        assert_eq!(at(3).pending(), []);
    }
}
