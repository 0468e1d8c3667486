//! Authentication context classes: what an `acr` of this server says.
//!
//! A class is a predicate over the methods that a session used. It is computed from them and never
//! taken from a request (known fault A6). A request may ask for a class; then the login page offers
//! what is missing. A class that is defined by factors holds for every method of those factors: a
//! further method of login needs no further class.

/// What a method is evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Something that the person knows.
    Knowledge,
    /// Something that the person has, or reaches alone: a device, a mailbox.
    Possession,
    /// Something that the person is.
    Inherence,
}

/// A method of authentication, as the classes see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthenticationMethod {
    /// Its value of `amr` (RFC 8176 section 2).
    pub amr: &'static str,
    /// What it is evidence of.
    pub factor: Factor,
    /// What is sent is of no use to the page of an attacker.
    pub phishing_resistant: bool,
}

/// The methods that classes are computed from. A method of login names one of them.
#[rustfmt::skip]
pub const METHODS: &[AuthenticationMethod] = &[
    AuthenticationMethod { amr: "pwd", factor: Factor::Knowledge,  phishing_resistant: false },
    AuthenticationMethod { amr: "otp", factor: Factor::Possession, phishing_resistant: false },
];

/// What a class demands of the methods that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Each of these methods, by its `amr` value.
    Methods(&'static [&'static str]),
    /// Methods of at least so many different factors.
    Factors(usize),
    /// At least one method that resists phishing.
    PhishingResistant,
}

/// One class: its published name, and what it demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcrClass {
    /// The value of `acr`.
    pub name: &'static str,
    /// All of these hold.
    pub demands: &'static [Demand],
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
    AcrClass { name: PASSWORD_AND_EMAIL_CODE, demands: &[Demand::Methods(&["pwd", "otp"]), Demand::Factors(2)] },
    AcrClass { name: PASSWORD,                demands: &[Demand::Methods(&["pwd"])] },
    AcrClass { name: EMAIL_CODE,              demands: &[Demand::Methods(&["otp"])] },
];

fn class(name: &str) -> Option<&'static AcrClass> {
    CLASSES.iter().find(|class| class.name == name)
}

fn methods<S: AsRef<str>>(amr: &[S]) -> impl Iterator<Item = &'static AuthenticationMethod> {
    METHODS
        .iter()
        .filter(move |method| amr.iter().any(|used| used.as_ref() == method.amr))
}

impl Demand {
    fn holds<S: AsRef<str>>(&self, amr: &[S]) -> bool {
        match self {
            Demand::Methods(all) => all
                .iter()
                .all(|method| amr.iter().any(|used| used.as_ref() == *method)),
            Demand::Factors(most) => {
                let mut factors = Vec::new();
                for method in methods(amr) {
                    if !factors.contains(&method.factor) {
                        factors.push(method.factor);
                    }
                }
                factors.len() >= *most
            }
            Demand::PhishingResistant => methods(amr).any(|method| method.phishing_resistant),
        }
    }
}

impl AcrClass {
    /// Whether the methods that were used satisfy the class.
    pub fn holds<S: AsRef<str>>(&self, amr: &[S]) -> bool {
        self.demands.iter().all(|demand| demand.holds(amr))
    }
}

/// The class of what was done: the strongest that holds. None where none does.
pub fn of<S: AsRef<str>>(amr: &[S]) -> Option<&'static str> {
    CLASSES
        .iter()
        .find(|class| class.holds(amr))
        .map(|class| class.name)
}

/// Whether the class of this name holds for the methods that were used. A name that the server does
/// not have never does.
pub fn holds<S: AsRef<str>>(name: &str, amr: &[S]) -> bool {
    class(name).is_some_and(|class| class.holds(amr))
}

/// Of the methods in `candidates` (values of `amr`), those that bring `amr` to the class of this
/// name, each needed; none where the class holds already, where it is unknown, or where the
/// candidates do not suffice.
pub fn missing<S: AsRef<str>>(
    name: &str,
    amr: &[S],
    candidates: &[&'static str],
) -> Vec<&'static str> {
    let Some(class) = class(name) else {
        return Vec::new();
    };
    let mut reached: Vec<&str> = amr.iter().map(AsRef::as_ref).collect();
    if class.holds(&reached) {
        return Vec::new();
    }
    reached.extend(candidates);
    if !class.holds(&reached) {
        return Vec::new();
    }
    let mut needed: Vec<&'static str> = candidates
        .iter()
        .copied()
        .filter(|candidate| !amr.iter().any(|used| used.as_ref() == *candidate))
        .collect();
    // What can be left out is not needed.
    let mut index = 0;
    while index < needed.len() {
        let mut fewer: Vec<&str> = amr.iter().map(AsRef::as_ref).collect();
        fewer.extend(
            needed
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != index)
                .map(|(_, m)| *m),
        );
        if class.holds(&fewer) {
            needed.remove(index);
        } else {
            index += 1;
        }
    }
    needed
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
        assert!(holds(PASSWORD, &["pwd", "otp"]));
        assert!(!holds(PASSWORD_AND_EMAIL_CODE, &["pwd"]));
        assert!(!holds(EMAIL_CODE, &["pwd"]));
        assert!(!holds("urn:example:unknown", &["pwd", "otp"]));
    }

    #[test]
    fn every_method_alone_has_a_class() {
        for method in METHODS {
            assert!(of(&[method.amr]).is_some(), "{}", method.amr);
        }
    }

    #[test]
    fn what_is_missing_is_what_is_needed_and_no_more() {
        let all = ["pwd", "otp"];
        assert_eq!(missing(PASSWORD_AND_EMAIL_CODE, &["pwd"], &all), ["otp"]);
        assert_eq!(missing(PASSWORD, &["otp"], &all), ["pwd"]);
        assert!(missing(PASSWORD, &["pwd"], &all).is_empty());
        assert!(missing(PASSWORD_AND_EMAIL_CODE, &["pwd"], &["pwd"]).is_empty());
        assert!(missing("urn:example:unknown", &["pwd"], &all).is_empty());
    }

    #[test]
    fn factors_and_phishing_resistance_are_predicates_over_the_methods() {
        let two = Demand::Factors(2);
        assert!(two.holds(&["pwd", "otp"]));
        assert!(!two.holds(&["pwd", "pwd"]));
        assert!(!two.holds(&["pwd", "unknown"]));
        assert!(!Demand::PhishingResistant.holds(&["pwd", "otp"]));
    }
}
