//! Whether somebody may have a new password: the realm's policy, and the names of this server.

use http::Uri;
use signet_directory::{PasswordOf, PasswordRefused};
use signet_store::RealmId;

use crate::state::Realm;

impl Realm {
    /// Whether somebody may have this as their new password here.
    ///
    /// # Errors
    /// [`PasswordRefused`], the person's to put right.
    pub fn check_new_password(
        &self,
        password: &str,
        of: PasswordOf<'_>,
    ) -> Result<(), PasswordRefused> {
        let issuer = self.snapshot().settings.issuer.parse::<Uri>().ok();
        let host = issuer.as_ref().and_then(Uri::host);
        // The realm without a name is called nothing that a person could know.
        let name = (*self.id() != RealmId::default_realm()).then(|| self.id().as_str());
        let of = of.at(host.into_iter().chain(name));
        self.people.passwords.check(password, &of)
    }
}
