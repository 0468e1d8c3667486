//! The standard claims about a person, and the scopes that give them (OpenID Connect Core sections
//! 5.1 and 5.4).
use crate::issued::session::UserClaims;
use signet_encoding::json::Writer;

/// One scope of OpenID Connect Core section 5.4, and the claims that it gives.
#[derive(Clone, Copy, Debug)]
pub struct ScopeClaims {
    /// the scope
    pub scope: &'static str,
    /// its claims
    pub claims: &'static [&'static str],
}

/// The table of section 5.4.
#[rustfmt::skip]
pub const SCOPE_CLAIMS: &[ScopeClaims] = &[
    ScopeClaims { scope: "profile", claims: &[
        "name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture",
        "website", "gender", "birthdate", "zoneinfo", "locale", "updated_at",
    ] },
    ScopeClaims { scope: "email",   claims: &["email", "email_verified"] },
    ScopeClaims { scope: "address", claims: &["address"] },
    ScopeClaims { scope: "phone",   claims: &["phone_number", "phone_number_verified"] },
];

/// Claims of ID tokens that say something of the login; asked for singly they need no consent.
pub const LOGIN_CLAIMS: &[&str] = &["sub", "auth_time", "acr", "amr", "sid"];

/// Whether this is the name of a standard claim.
pub fn is_standard(name: &str) -> bool {
    SCOPE_CLAIMS.iter().any(|row| row.claims.contains(&name))
}

/// The value of a claim that is a text.
pub(crate) fn text<'a>(claim: &str, user: &'a UserClaims) -> Option<&'a str> {
    match claim {
        "name" => user.name.as_deref(),
        "family_name" => user.family_name.as_deref(),
        "given_name" => user.given_name.as_deref(),
        "middle_name" => user.middle_name.as_deref(),
        "nickname" => user.nickname.as_deref(),
        "preferred_username" => user.preferred_username.as_deref(),
        "profile" => user.profile.as_deref(),
        "picture" => user.picture.as_deref(),
        "website" => user.website.as_deref(),
        "gender" => user.gender.as_deref(),
        "birthdate" => user.birthdate.as_deref(),
        "zoneinfo" => user.zoneinfo.as_deref(),
        "locale" => user.locale.as_deref(),
        "email" => user.email.as_deref(),
        "phone_number" => user.phone_number.as_deref(),
        _ => None,
    }
}

/// Writes a claim as a member of the open object, where the record has a value for it.
pub(crate) fn write(w: &mut Writer<'_>, claim: &str, user: &UserClaims) {
    if has(claim, user) {
        write_value(w.member(claim), claim, user);
    }
}

/// Whether the record has a value for it.
pub(crate) fn has(claim: &str, user: &UserClaims) -> bool {
    match claim {
        "updated_at" => user.updated_at.is_some(),
        "email_verified" => user.email.is_some(),
        "phone_number_verified" => user.phone_number.is_some(),
        "address" => user.address.is_some(),
        _ => text(claim, user).is_some(),
    }
}

/// Writes the value of a claim that the record has.
pub(crate) fn write_value(w: &mut Writer<'_>, claim: &str, user: &UserClaims) {
    match claim {
        "updated_at" => w.number(user.updated_at.unwrap_or_default()),
        "email_verified" => w.bool(user.email_verified),
        "phone_number_verified" => w.bool(user.phone_number_verified),
        "address" => w.object(|w| {
            let address = user.address.as_deref().unwrap_or_default();
            w.member("formatted").string(address);
        }),
        _ => w.string(text(claim, user).unwrap_or_default()),
    }
}
