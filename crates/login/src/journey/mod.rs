//! Ways to log in: one file a method, one line in [`METHODS`].
//!
//! A method says what it is evidence of, what its page shows, and how it decides an attempt. What
//! is common to all of them is done by [`flow`], which walks the table: the budgets against
//! guessing, the pages' order, the second factor, the session and the audit record. So a method
//! cannot forget one of these.

pub mod budgets;
pub mod email_code;
mod first_password;
pub mod flow;
mod last_way;
pub mod link;
pub mod method;
pub mod offer;
pub mod one_time_code;
pub mod passkey;
mod passkey_offer;
pub mod password;
pub(crate) mod policy;
pub mod provider;
pub mod recovery_code;
pub mod remembered;
pub mod second;
pub(crate) mod terms;
pub mod totp;

pub(crate) use last_way::is_last_way;
pub use method::Method;

/// Every method. The first is the one whose fields stand on the login page; of those that would do
/// as a further step, the first that the account has is asked for.
pub const METHODS: &[Method] = &[
    password::METHOD,
    totp::METHOD,
    passkey::METHOD,
    email_code::METHOD,
    recovery_code::METHOD,
];

#[cfg(test)]
mod tests {
    use super::METHODS;
    use signet_oauth::authorize::acr;

    #[test]
    fn every_method_is_known_to_the_classes_and_gives_a_session_an_acr() {
        for method in METHODS {
            assert!(!method.shows.is_empty(), "{}", method.name);
            for shown in method.shows {
                assert!(
                    acr::METHODS.iter().any(|known| known.name == *shown),
                    "{shown}"
                );
                assert!(acr::of(&[*shown]).is_some(), "{shown}");
            }
        }
    }

    #[test]
    fn names_and_buttons_are_unique() {
        for (index, method) in METHODS.iter().enumerate() {
            for other in &METHODS[index + 1..] {
                assert_ne!(method.name, other.name);
                assert_ne!(method.decision, other.decision);
            }
        }
    }

    #[test]
    fn the_first_methods_fields_stand_on_the_login_page() {
        assert!(METHODS[0].start.is_none());
    }
}
