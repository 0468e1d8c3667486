//! Directories that are not ours: where somebody else keeps who there is, and who they are.
//!
//! A directory is asked three things: who has this name, who this is, and whether this is their
//! password. What Signet needs beside that (a `sub` that never changes, whether an operator keeps
//! the person out, sessions, consents) hangs on an account of its own, which
//! [`Accounts`](crate::Accounts) makes when it first sees the person.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use signet_crypto::Secret;

use crate::attributes::Value;
use crate::error::DirectoryError;
use crate::record::Profile;

/// What a directory answers with, in its own time.
pub type DirectoryFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, DirectoryError>> + Send + 'a>>;

/// A person, as their directory knows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Person {
    /// Names the person in the directory: for ever, and nobody else after them (an `entryUUID`, not
    /// a distinguished name).
    pub id: String,
    /// What they log in with, and the `preferred_username` claim.
    pub username: String,
    /// Their address; one that cannot be one is left out.
    pub email: Option<String>,
    /// Whether the directory vouches that mail to it reaches the person.
    pub email_verified: bool,
    /// Whether the directory lets them in.
    pub enabled: bool,
    /// Their profile; one with values that cannot be claims is left out.
    pub profile: Profile,
    /// Attributes, by the names that the realm's schema has; others are kept and mean nothing.
    pub attributes: BTreeMap<String, Value>,
    /// Names of groups that they are in, there: they are in the realm's groups of these names. At
    /// most 256 of them.
    pub groups: Vec<String>,
}

/// What Signet itself keeps of a directory's people, and may therefore change. Everything else is
/// the directory's, is taken over again at each login, and is changed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Passwords: they are set and checked here, and the directory is not asked for them.
    pub password: bool,
    /// The e-mail address.
    pub mail: bool,
    /// The profile.
    pub profile: bool,
    /// Attributes.
    pub attributes: bool,
    /// Which groups the person is in.
    pub groups: bool,
    /// The account: it may be removed.
    pub remove: bool,
}

impl Capabilities {
    /// Everything: the accounts that are kept here.
    pub const ALL: Capabilities = Capabilities {
        password: true,
        mail: true,
        profile: true,
        attributes: true,
        groups: true,
        remove: true,
    };
    /// Nothing: the directory is only read.
    pub const NONE: Capabilities = Capabilities {
        password: false,
        mail: false,
        profile: false,
        attributes: false,
        groups: false,
        remove: false,
    };
}

/// The outcome of a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordVerdict {
    /// It is theirs.
    Right,
    /// It is not, or it is absent.
    Wrong,
    /// It was not looked at: too many are being looked at. The person tries again in a moment.
    Busy,
}

/// A directory of people. It keeps no session and decides no budget: guesses are counted before it
/// is asked.
pub trait Directory: Send + Sync + 'static {
    /// Names it in the links of its people: it never changes while there are any.
    fn name(&self) -> &str;

    /// Whom this name or address names. `login` is folded ([`fold`](crate::fold)): one line, lower
    /// case, no spaces.
    fn find<'a>(&'a self, login: &'a str) -> DirectoryFuture<'a, Option<Person>>;

    /// The person with this [`Person::id`]; none if the directory has them no more.
    fn by_id<'a>(&'a self, id: &'a str) -> DirectoryFuture<'a, Option<Person>>;

    /// Whether this is the password of the person with this id. Not asked where
    /// [`Capabilities::password`] is Signet's.
    fn verify_password<'a>(
        &'a self,
        id: &'a str,
        password: Secret<String>,
    ) -> DirectoryFuture<'a, PasswordVerdict>;

    /// What Signet keeps of its people.
    fn may(&self) -> Capabilities;
}
