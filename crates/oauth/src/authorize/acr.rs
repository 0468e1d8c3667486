//! Authentication context classes: what an `acr` of this server says.
//!
//! A class is the name of what was done, no more; it is computed from the methods that a session used and never
//! taken from a request (known fault A6). A request may ask for a class; then the login page offers that method.

/// One class: its published name, and the methods (RFC 8176 `amr`) whose use it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcrClass {
    /// the value of `acr`
    pub name: &'static str,
    /// all of these were used
    pub amr: &'static [&'static str],
}

/// A password was typed.
pub const PASSWORD: &str = "urn:signet:acr:password";
/// A one-time code, sent to the account's e-mail address, was typed.
pub const EMAIL_CODE: &str = "urn:signet:acr:email-code";
/// Both, in one session. (No `+` in a name: a careless client's query would turn it into a space.)
pub const PASSWORD_AND_EMAIL_CODE: &str = "urn:signet:acr:password-and-email-code";

/// Every class, strongest first: `acr_values_supported`.
#[rustfmt::skip]
pub const CLASSES: &[AcrClass] = &[
    AcrClass { name: PASSWORD_AND_EMAIL_CODE, amr: &["pwd", "otp"] },
    AcrClass { name: PASSWORD,                amr: &["pwd"] },
    AcrClass { name: EMAIL_CODE,              amr: &["otp"] },
];

/// The class of what was done: the strongest whose methods are all in `amr`. None where none is.
pub fn of<S: AsRef<str>>(amr: &[S]) -> Option<&'static str> {
    CLASSES
        .iter()
        .find(|c| c.amr.iter().all(|m| amr.iter().any(|a| a.as_ref() == *m)))
        .map(|c| c.name)
}

/// Does this server have the class?
pub fn is_supported(name: &str) -> bool {
    CLASSES.iter().any(|c| c.name == name)
}

/// Is everything that `wanted` states also true where `done` is? Two factors say that each of them was used.
pub fn reaches(done: &str, wanted: &str) -> bool {
    let methods = |name: &str| CLASSES.iter().find(|c| c.name == name).map(|c| c.amr);
    match (methods(done), methods(wanted)) {
        (Some(done), Some(wanted)) => wanted.iter().all(|m| done.contains(m)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_states_what_was_done() {
        assert_eq!(of(&["pwd"]), Some(PASSWORD));
        assert_eq!(of(&["otp"]), Some(EMAIL_CODE));
        assert_eq!(of(&["otp", "pwd"]), Some(PASSWORD_AND_EMAIL_CODE));
        assert_eq!(of::<&str>(&[]), None);
    }

    #[test]
    fn a_name_needs_no_escaping_in_a_query() {
        for class in CLASSES {
            let mut encoded = String::new();
            crate::params::encode_into(&class.name.replace(':', ""), &mut encoded);
            assert_eq!(encoded, class.name.replace(':', ""));
        }
    }

    #[test]
    fn two_factors_reach_each_of_them_and_one_never_reaches_two() {
        assert!(reaches(PASSWORD_AND_EMAIL_CODE, PASSWORD));
        assert!(!reaches(PASSWORD, PASSWORD_AND_EMAIL_CODE));
        assert!(!reaches(PASSWORD, EMAIL_CODE));
        assert!(!reaches("urn:example:unknown", PASSWORD));
        assert!(!reaches(PASSWORD, "urn:example:unknown"));
    }
}
