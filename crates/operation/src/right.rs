//! What an operation is: what it is about, and what it does. Each row says both, and roles are made
//! of them ([`crate::roles`]).
use signet_oauth::scope::{ADMIN, ADMIN_READ};

/// The table of areas: a variant each, and its name.
macro_rules! areas {
    ($($(#[$doc:meta])* $area:ident = $name:literal,)*) => {
        /// What an operation is about. Each row says it: without it, it does not compile.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Area {
            $($(#[$doc])* $area,)*
        }

        impl Area {
            /// Every area.
            pub const ALL: &[Area] = &[$(Area::$area),*];

            /// As roles name it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Area::$area => $name,)*
                }
            }
        }
    };
}

areas! {
    /// Accounts, groups, roles, attributes.
    People = "people",
    /// What people log in with: passwords, further factors, invitations.
    Credentials = "credentials",
    /// What people are logged in as: sessions, grants, consents.
    Sessions = "sessions",
    /// Clients, resource servers, scopes.
    Clients = "clients",
    /// Access rules.
    Access = "access",
    /// Identity providers.
    Providers = "providers",
    /// Signing and sealing keys.
    Keys = "keys",
    /// Single tokens, and revocations over all of them.
    Tokens = "tokens",
    /// Agents and what is delegated to them.
    Agents = "agents",
    /// The audit trail.
    Audit = "audit",
    /// Nodes and their store.
    Nodes = "nodes",
    /// Realms.
    Realms = "realms",
    /// Settings.
    Settings = "settings",
    /// Documents of everything that is kept of people.
    Exports = "exports",
    /// Directories that declare. Each change is asked for in its own area besides.
    Declarations = "declarations",
    /// Administrators: their own roles, API keys, requests that wait for a second one.
    Administration = "administration",
}

/// What an operation does, and so what its caller must be allowed. Each row says it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Right {
    /// It shows, and changes nothing.
    Read,
    /// It takes away or replaces what a person logs in with, or ends what they are logged in as.
    Reset,
    /// It changes something, or makes a secret.
    Write,
    /// It shows what people log in with. Its caller is a person who has just shown two factors
    /// ([`signet_directory::session::has_two_factors`]): neither a stolen token nor a client's
    /// secret is enough.
    Reveal,
}

impl Right {
    /// Every right.
    pub const ALL: &[Right] = &[Right::Read, Right::Reset, Right::Write, Right::Reveal];

    /// As roles name it.
    pub const fn name(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Reset => "reset",
            Right::Write => "write",
            Right::Reveal => "reveal",
        }
    }

    /// The least scope that has it.
    pub const fn scope(self) -> &'static str {
        match self {
            Right::Read => ADMIN_READ,
            Right::Reset | Right::Write | Right::Reveal => ADMIN,
        }
    }
}
