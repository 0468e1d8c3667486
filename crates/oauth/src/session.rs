/// A login session as the rules see it. `sid` is public (ID token), never the cookie (known fault A4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub sid: String,
    pub user_id: String,
    pub auth_time: u64,
    pub acr: String,
    pub amr: Vec<String>,
}
/// What the person has agreed to for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    pub scope: crate::scope::ScopeSet,
    pub claims: Vec<String>,
    pub granted_at: u64,
}
/// The standard claims of OpenID Connect Core 5.1 that a user record can give.
#[derive(Clone, Debug, Default)]
pub struct UserClaims {
    pub sub: String,
    pub name: Option<String>,
    pub given_name: Option<String>,
    pub family_name: Option<String>,
    pub middle_name: Option<String>,
    pub nickname: Option<String>,
    pub preferred_username: Option<String>,
    pub profile: Option<String>,
    pub picture: Option<String>,
    pub website: Option<String>,
    pub email: Option<String>,
    pub email_verified: bool,
    pub gender: Option<String>,
    pub birthdate: Option<String>,
    pub zoneinfo: Option<String>,
    pub locale: Option<String>,
    pub phone_number: Option<String>,
    pub phone_number_verified: bool,
    pub address: Option<String>,
    pub updated_at: Option<u64>,
}
