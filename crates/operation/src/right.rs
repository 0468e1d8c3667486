//! What somebody may do at the admin API: what an operation needs, and what a role may.
use signet_oauth::scope::{ADMIN, ADMIN_READ, ScopeSet};

/// What an operation does, and so what its caller must be allowed. Each row says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Right {
    /// It shows, and changes nothing.
    Read,
    /// It changes something, or makes a secret.
    Write,
    /// It shows what people log in with. Its caller is a person who has just shown two factors
    /// ([`signet_directory::session::has_two_factors`]): neither a stolen token nor a client's
    /// secret is enough.
    Reveal,
}

impl Right {
    /// The least scope that has it.
    pub const fn scope(self) -> &'static str {
        match self {
            Right::Read => ADMIN_READ,
            Right::Write | Right::Reveal => ADMIN,
        }
    }
}

/// What somebody may do here, from little to much.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// Sees everything that the API shows, and changes nothing.
    Auditor,
    /// Everything.
    Administrator,
}

impl Role {
    /// The most that a scope gives.
    pub fn of(scope: &ScopeSet) -> Option<Role> {
        [(ADMIN, Role::Administrator), (ADMIN_READ, Role::Auditor)]
            .into_iter()
            .find(|(name, _)| scope.contains(name))
            .map(|(_, role)| role)
    }

    /// The scope that gives it.
    pub const fn scope(self) -> &'static str {
        match self {
            Role::Auditor => ADMIN_READ,
            Role::Administrator => ADMIN,
        }
    }

    /// Whether it may do what needs this right.
    pub const fn may(self, right: Right) -> bool {
        match (self, right) {
            (Role::Auditor, Right::Read)
            | (Role::Administrator, Right::Read | Right::Write | Right::Reveal) => true,
            (Role::Auditor, Right::Write | Right::Reveal) => false,
        }
    }
}
