//! What a realm asks of passkeys: the part of the settings that is about them.

use crate::issued::names::wire_names;
use crate::setting_fault::SettingFault;

/// Most origins that may use the realm's passkeys beside its own. Browsers look at five labels at
/// least (WebAuthn Level 3 section 5.11.1); more of them work in some only.
pub const MAX_RELATED_ORIGINS: usize = 32;

/// Most models of authenticators that are allowed by name.
pub const MAX_ALLOWED_AAGUIDS: usize = 256;

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeySettings {
    /// people may add passkeys, and log in with them
    pub enabled: bool,
    /// whether an authenticator must verify its user
    pub user_verification: UserVerification,
    /// origins of other domains whose pages may use the passkeys (`/.well-known/webauthn`), as
    /// browsers write them
    pub related_origins: Vec<String>,
    /// the models that may be added; empty: every one
    pub allowed_aaguids: Vec<Aaguid>,
}

/// Whether an authenticator must verify its user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserVerification {
    /// always: each passkey is two factors
    Required,
    /// where it can: one that did not is one factor
    Preferred,
}
wire_names!(UserVerification { Required = "required", Preferred = "preferred" });

/// The model of an authenticator: a UUID.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Aaguid(pub [u8; 16]);

impl Aaguid {
    /// Reads the form with hyphens, of which there is one.
    pub fn parse(text: &str) -> Option<Aaguid> {
        let groups = [8, 4, 4, 4, 12];
        let mut digits = String::with_capacity(32);
        let mut parts = text.split('-');
        for length in groups {
            let part = parts.next()?;
            let fits = part.len() == length && part.bytes().all(|b| b.is_ascii_hexdigit());
            fits.then(|| digits.push_str(part))?;
        }
        if parts.next().is_some() {
            return None;
        }
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok()?;
        }
        Some(Aaguid(bytes))
    }
}

impl std::fmt::Display for Aaguid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl Default for PasskeySettings {
    /// Offered; every authenticator that verifies its user; the issuer's own pages.
    fn default() -> Self {
        PasskeySettings {
            enabled: true,
            user_verification: UserVerification::Required,
            related_origins: Vec::new(),
            allowed_aaguids: Vec::new(),
        }
    }
}

impl PasskeySettings {
    /// What cannot be served. Empty: all is well.
    pub fn validate(&self) -> Vec<SettingFault> {
        let mut faults = Vec::new();
        let mut add = |path: String, message: String| faults.push(SettingFault { path, message });
        for (index, origin) in self.related_origins.iter().enumerate() {
            if !is_origin(origin) {
                add(
                    format!("passkeys.related_origins[{index}]"),
                    format!(
                        "{origin} is no origin: https://host[:port], in lower case, without a slash at the end"
                    ),
                );
            }
        }
        if self.related_origins.len() > MAX_RELATED_ORIGINS {
            add(
                "passkeys.related_origins".to_owned(),
                format!("at most {MAX_RELATED_ORIGINS} origins"),
            );
        }
        if self.allowed_aaguids.len() > MAX_ALLOWED_AAGUIDS {
            add(
                "passkeys.allowed_aaguids".to_owned(),
                format!("at most {MAX_ALLOWED_AAGUIDS} models"),
            );
        }
        faults
    }
}

/// An origin of the one form in which browsers write it (RFC 6454 section 6.2).
fn is_origin(text: &str) -> bool {
    let Some(authority) = text.strip_prefix("https://") else {
        return false;
    };
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let label = |label: &str| {
        let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        !label.is_empty() && label.len() <= 63 && label.bytes().all(letters)
    };
    let port_fits = port.is_none_or(|port| {
        let number = port.parse::<u16>();
        number.is_ok_and(|number| number != 443 && number.to_string() == port)
    });
    host.len() <= 253 && host.split('.').all(label) && port_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_one_form() {
        let text = "fbfc3007-154e-4ecc-8c0b-6e020557d7bd";
        assert_eq!(Aaguid::parse(text).expect("a UUID").to_string(), text);
        for bad in [
            "",
            "fbfc3007154e4ecc8c0b6e020557d7bd",
            "fbfc3007-154e-4ecc-8c0b-6e020557d7b",
            "fbfc3007-154e-4ecc-8c0b-6e020557d7bd-",
            "+bfc3007-154e-4ecc-8c0b-6e020557d7bd",
            "gbfc3007-154e-4ecc-8c0b-6e020557d7bd",
        ] {
            assert_eq!(Aaguid::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_origin_is_what_browsers_write() {
        for good in ["https://shop.example", "https://a.b-c.example:8443"] {
            assert!(is_origin(good), "{good}");
        }
        for bad in [
            "http://shop.example",
            "https://Shop.example",
            "https://shop.example/",
            "https://shop.example:443",
            "https://shop.example:08",
            "https://shop..example",
            "https://a@shop.example",
            "https://",
            "null",
        ] {
            assert!(!is_origin(bad), "{bad}");
        }
    }
}
