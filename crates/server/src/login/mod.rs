//! Ways to log in: one file a method, one line in [`METHODS`].
//!
//! A method says what it is evidence of, what its page shows, and how it decides an attempt. What
//! is common to all of them is done by [`flow`], which walks the table: the budgets against
//! guessing, the pages' order, the second factor, the session and the audit record. So a method
//! cannot forget one of these.

pub mod budgets;
pub mod email_code;
mod failure;
pub mod flow;
pub mod method;
pub mod one_time_code;
pub mod password;

pub(crate) use failure::Failure;
pub use method::Method;

/// Every method. The first is the one whose fields stand on the login page.
pub const METHODS: &[Method] = &[password::METHOD, email_code::METHOD];

#[cfg(test)]
mod tests {
    use super::METHODS;
    use signet_oauth::authorize::acr;

    #[test]
    fn every_method_is_known_to_the_classes_and_gives_a_session_an_acr() {
        for method in METHODS {
            assert!(
                acr::METHODS.iter().any(|known| known.amr == method.amr),
                "{}",
                method.name
            );
            assert!(acr::of(&[method.amr]).is_some(), "{}", method.name);
        }
    }

    #[test]
    fn names_and_buttons_are_unique() {
        for (index, method) in METHODS.iter().enumerate() {
            for other in &METHODS[index + 1..] {
                assert_ne!(method.name, other.name);
                let decisions = [method, other].map(|m| m.start.as_ref().map(|s| s.decision));
                assert!(decisions[0].is_none() || decisions[0] != decisions[1]);
            }
        }
    }

    #[test]
    fn the_first_methods_fields_stand_on_the_login_page() {
        assert!(METHODS[0].start.is_none());
    }
}
