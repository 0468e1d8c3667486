//! Ways to log in: one file a method, one line in [`METHODS`].
//!
//! A method says what it is evidence of, what its page shows, and how it decides an attempt. What
//! is common to all of them is done around it: `attempt` counts and records, `step_up` asks for
//! what is missing, `finish` has the one order that ends in a session, and `run` leads from step to
//! step. So a method cannot forget one of these. A way that leads elsewhere, to an identity
//! provider, is a row of [`LEADS`].

mod after_login;
mod attempt;
pub mod budgets;
pub mod email_code;
mod finish;
mod first_password;
mod identify;
mod last_way;
mod lead;
pub mod link;
mod login_page;
pub mod method;
mod next;
pub mod one_time_code;
pub mod passkey;
pub mod password;
mod policy;
pub mod provider;
pub mod recovery_code;
pub mod remembered;
mod run;
mod step_up;
mod terms;
pub mod totp;
mod who;

pub use after_login::{DECLINED_FOR, OFFERS};
pub use attempt::{State, verify, verify_of};
pub(crate) use last_way::is_last_way;
pub use lead::Lead;
pub use login_page::{show, show_for};
pub use method::Method;
pub use next::{ACTION, Journey, Next, Proof};
pub(crate) use run::with_new_password;
pub use run::{Outcome, again, arrive, ask_further, submit, unasked};
pub use step_up::{StepUp, step_up, unreachable};
pub(crate) use terms::accepted_terms;
pub use who::wants_second_factor;

/// Every method. The first is the one whose fields stand on the login page; of those that would do
/// as a further step, the first that the account has is asked for.
pub const METHODS: &[Method] = &[
    password::METHOD,
    totp::METHOD,
    passkey::METHOD,
    email_code::METHOD,
    recovery_code::METHOD,
];

/// Every way that leads elsewhere.
pub const LEADS: &[Lead] = &[provider::LEAD];

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
