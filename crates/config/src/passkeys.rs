//! `[passkeys]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_oauth::people::passkeys::{Aaguid, PasskeySettings, UserVerification};

use super::fault::Faults;

/// Passkeys (WebAuthn).
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Passkeys {
    /// May people add passkeys to their accounts and log in with them? Their domain is the issuer's
    /// host; an issuer that is an IP address has none.
    pub enabled: bool,
    /// `required`: an authenticator must verify its user (by a PIN, a finger, a face), and each
    /// passkey is two factors. `preferred`: one that does not is accepted as one factor.
    pub user_verification: UserVerificationName,
    /// Origins of other domains whose pages may use these passkeys, e.g.
    /// "https://login.example.net": published at `/.well-known/webauthn`.
    pub related_origins: Vec<String>,
    /// The models of authenticators (AAGUID) that may be added. An authenticator names its model
    /// itself: this keeps out what people would add by habit, not who builds one. Default: every
    /// one.
    pub allowed_aaguids: Vec<String>,
}

/// Values of `user_verification`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UserVerificationName {
    /// Always.
    Required,
    /// Where it can.
    Preferred,
}

impl Default for Passkeys {
    fn default() -> Self {
        Passkeys {
            enabled: true,
            user_verification: UserVerificationName::Required,
            related_origins: Vec::new(),
            allowed_aaguids: Vec::new(),
        }
    }
}

impl Passkeys {
    /// As the settings have it.
    pub(super) fn settings(&self, faults: &mut Faults) -> PasskeySettings {
        let mut allowed = Vec::new();
        for (i, text) in self.allowed_aaguids.iter().enumerate() {
            match Aaguid::parse(text) {
                Some(aaguid) => allowed.push(aaguid),
                None => faults.add(
                    format!("passkeys.allowed_aaguids[{i}]"),
                    "no AAGUID: 32 hexadecimal digits with hyphens, as fbfc3007-154e-4ecc-8c0b-6e020557d7bd",
                ),
            }
        }
        PasskeySettings {
            enabled: self.enabled,
            user_verification: match self.user_verification {
                UserVerificationName::Required => UserVerification::Required,
                UserVerificationName::Preferred => UserVerification::Preferred,
            },
            related_origins: self.related_origins.clone(),
            allowed_aaguids: allowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_model_or_no_origin_is_named() {
        let mut faults = Faults::default();
        let file: Passkeys = toml::from_str(
            "user_verification = \"preferred\"\nallowed_aaguids = [\"fbfc3007-154e-4ecc-8c0b-6e020557d7bd\", \"x\"]\nrelated_origins = [\"https://A.example\"]",
        )
        .expect("a table");
        let settings = file.settings(&mut faults);
        assert_eq!(settings.user_verification, UserVerification::Preferred);
        assert_eq!(settings.allowed_aaguids.len(), 1);
        let said: Vec<_> = faults.0.iter().map(|fault| &*fault.path).collect();
        assert_eq!(said, ["passkeys.allowed_aaguids[1]"]);
        assert_eq!(settings.validate().len(), 1);
    }
}
