//! What the rules see of a login session, a consent and a person.

/// A login session as the rules see it. `sid` is public (ID token), never the cookie (known fault
/// A4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// public session id
    pub sid: String,
    /// the person
    pub user_id: String,
    /// when the person last proved who they are; Unix seconds
    pub auth_time: u64,
    /// what was done: an authentication context class that the server publishes
    pub acr: String,
    /// the methods that were used (RFC 8176)
    pub amr: Vec<String>,
    /// the same by their names in `authorize::acr::METHODS`: what classes are decided by
    pub methods: Vec<String>,
    /// when it ends at the latest, however it is used; Unix seconds
    pub ends_at: u64,
}
/// What the person has agreed to for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// the scopes agreed to
    pub scope: crate::scope::ScopeSet,
    /// single claims agreed to, beyond what the scopes give
    pub claims: Vec<String>,
    /// Unix seconds
    pub granted_at: u64,
}
/// The standard claims of OpenID Connect Core 5.1 that a user record can give.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserClaims {
    /// the person's id: `sub` for every client (public subject type)
    pub sub: String,
    /// display name
    pub name: Option<String>,
    /// first names
    pub given_name: Option<String>,
    /// surnames
    pub family_name: Option<String>,
    /// middle names
    pub middle_name: Option<String>,
    /// casual name
    pub nickname: Option<String>,
    /// short name, not unique
    pub preferred_username: Option<String>,
    /// URL of a profile page
    pub profile: Option<String>,
    /// URL of a picture
    pub picture: Option<String>,
    /// URL of a web page
    pub website: Option<String>,
    /// address that is shown
    pub email: Option<String>,
    /// the server has seen that the address is the person's
    pub email_verified: bool,
    /// as written by the person
    pub gender: Option<String>,
    /// `YYYY-MM-DD`
    pub birthdate: Option<String>,
    /// IANA time zone
    pub zoneinfo: Option<String>,
    /// BCP 47
    pub locale: Option<String>,
    /// E.164
    pub phone_number: Option<String>,
    /// the server has seen that the number is the person's
    pub phone_number_verified: bool,
    /// the `formatted` member of `address`
    pub address: Option<String>,
    /// Unix seconds
    pub updated_at: Option<u64>,
    /// groups, roles and attributes, from which tables of claims are filled
    pub held: crate::people::Holdings,
}
