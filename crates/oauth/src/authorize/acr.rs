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
    /// Names it in sessions. It never changes.
    pub name: &'static str,
    /// What `amr` says of it (RFC 8176 section 2).
    pub amr: &'static [&'static str],
    /// What it is evidence of.
    pub factors: &'static [Factor],
    /// The person set it up as a proof of their own, beside password and mail.
    pub enrolled: bool,
    /// What is sent is of no use to the page of an attacker.
    pub phishing_resistant: bool,
}

use Factor::{Inherence, Knowledge, Possession};

/// The methods that classes are computed from. A method of login names one of them, or several of
/// which each attempt shows one.
///
/// A mailed code is possession of a mailbox, and is not counted as a second factor: mail is no
/// second channel (NIST SP 800-63B-4 section 3.1.3.1). A recovery code is possession, as every list
/// of secrets to look up is (section 3.1.2). `hwk` and `swk` are the two kinds of a passkey's key:
/// one that stays in its authenticator, and one that is backed up.
#[rustfmt::skip]
pub const METHODS: &[AuthenticationMethod] = &[
    AuthenticationMethod { name: "password",           amr: &["pwd"],         factors: &[Knowledge],             enrolled: false, phishing_resistant: false },
    AuthenticationMethod { name: "email_code",         amr: &["otp"],         factors: &[Possession],            enrolled: false, phishing_resistant: false },
    AuthenticationMethod { name: "totp",               amr: &["otp"],         factors: &[Possession],            enrolled: true,  phishing_resistant: false },
    AuthenticationMethod { name: "recovery_code",      amr: &["otp"],         factors: &[Possession],            enrolled: true,  phishing_resistant: false },
    AuthenticationMethod { name: REMEMBERED_BROWSER,   amr: &[],              factors: &[Possession],            enrolled: true,  phishing_resistant: false },
    AuthenticationMethod { name: "passkey_synced",     amr: &["swk", "user"], factors: &[Possession, Inherence], enrolled: true,  phishing_resistant: true },
    AuthenticationMethod { name: "passkey_bound",      amr: &["hwk", "user"], factors: &[Possession, Inherence], enrolled: true,  phishing_resistant: true },
    AuthenticationMethod { name: "security_key",       amr: &["hwk", "user"], factors: &[Possession],            enrolled: true,  phishing_resistant: true },
    AuthenticationMethod { name: "security_key_synced", amr: &["swk", "user"], factors: &[Possession],           enrolled: true,  phishing_resistant: true },
    // A login at an identity provider, of which no more is believed than a password is.
    AuthenticationMethod { name: PROVIDER_METHOD,      amr: &["fed"],         factors: &[Knowledge],             enrolled: false, phishing_resistant: false },
];

/// A browser that is not asked for a second factor for a while: nothing is shown by it.
pub const REMEMBERED_BROWSER: &str = "remembered_browser";

/// A login at an identity provider.
pub const PROVIDER_METHOD: &str = "provider";

/// What a class demands of the methods that were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Each of these methods, by its name.
    Methods(&'static [&'static str]),
    /// Methods of at least so many different factors.
    Factors(usize),
    /// At least one method that the person set up.
    Enrolled,
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
/// Two factors, one of them set up by the person: a password and a code of an app, or a passkey
/// that verified its user.
pub const TWO_FACTORS: &str = "urn:signet:acr:two-factors";
/// A passkey or a security key: what is sent is of no use to the page of an attacker.
pub const PHISHING_RESISTANT: &str = "urn:signet:acr:phishing-resistant";
/// Both.
pub const PHISHING_RESISTANT_TWO_FACTORS: &str = "urn:signet:acr:phishing-resistant-two-factors";
/// One factor, of whatever kind.
pub const ONE_FACTOR: &str = "urn:signet:acr:one-factor";

/// The person logged in at an identity provider. RFC 8176 has no value for it: `amr` says `fed`.
pub const PROVIDER: &str = "urn:signet:acr:provider";

/// Every class, strongest first: `acr_values_supported`.
#[rustfmt::skip]
pub const CLASSES: &[AcrClass] = &[
    AcrClass { name: PHISHING_RESISTANT_TWO_FACTORS, demands: &[Demand::PhishingResistant, Demand::Factors(2), Demand::Enrolled] },
    AcrClass { name: TWO_FACTORS,             demands: &[Demand::Factors(2), Demand::Enrolled] },
    AcrClass { name: PHISHING_RESISTANT,      demands: &[Demand::PhishingResistant] },
    AcrClass { name: PASSWORD_AND_EMAIL_CODE, demands: &[Demand::Methods(&["password", "email_code"])] },
    AcrClass { name: PASSWORD,                demands: &[Demand::Methods(&["password"])] },
    AcrClass { name: EMAIL_CODE,              demands: &[Demand::Methods(&["email_code"])] },
    AcrClass { name: PROVIDER,                demands: &[Demand::Methods(&["provider"])] },
    AcrClass { name: ONE_FACTOR,              demands: &[Demand::Factors(1)] },
];

/// What `amr` says of the methods that were used, each value once: those of the methods, and `mfa`
/// where they are two factors (RFC 8176 section 2).
pub fn amr<S: AsRef<str>>(used: &[S]) -> Vec<&'static str> {
    let mut values: Vec<&'static str> = Vec::new();
    for value in methods(used).flat_map(|method| method.amr) {
        if !values.contains(value) {
            values.push(value);
        }
    }
    if holds(TWO_FACTORS, used) {
        values.push("mfa");
    }
    values
}

/// Whether the person set up the method of this name, beside password and mail.
pub fn is_enrolled(name: &str) -> bool {
    methods(&[name]).any(|method| method.enrolled)
}

/// Of the methods in `candidates` (by their names), those of which each alone brings `used` to the
/// class of this name; where none does, those of [`missing`].
pub fn helpful<S: AsRef<str>>(
    name: &str,
    used: &[S],
    candidates: &[&'static str],
) -> Vec<&'static str> {
    let Some(class) = class(name).filter(|class| !class.holds(used)) else {
        return Vec::new();
    };
    let alone = candidates.iter().copied().filter(|candidate| {
        let with: Vec<&str> = used.iter().map(AsRef::as_ref).chain([*candidate]).collect();
        class.holds(&with)
    });
    let alone: Vec<&'static str> = alone.collect();
    match alone.is_empty() {
        true => missing(name, used, candidates),
        false => alone,
    }
}

/// The methods that a session used which was begun when sessions had only `amr` values.
pub fn methods_of_amr<S: AsRef<str>>(amr: &[S]) -> Vec<&'static str> {
    amr.iter()
        .filter_map(|value| match value.as_ref() {
            "pwd" => Some("password"),
            "otp" => Some("email_code"),
            _ => None,
        })
        .collect()
}

/// Whether the methods that were used have a proof among them that the person set up beside a
/// password: what an account with a second factor is asked for. A passkey that did not verify its
/// user is one only beside another factor.
pub fn second_factor_shown<S: AsRef<str>>(used: &[S]) -> bool {
    methods(used).any(|method| {
        method.enrolled && (!method.phishing_resistant || Demand::Factors(2).holds(used))
    })
}

/// Whether one of the methods that were used says who somebody is: a login may begin with it. A
/// code of an app only adds to what says that.
pub fn begins_login<S: AsRef<str>>(used: &[S]) -> bool {
    methods(used).any(|method| !method.enrolled || method.phishing_resistant)
}

/// Whether there is a class of this name.
pub fn exists(name: &str) -> bool {
    class(name).is_some()
}

fn class(name: &str) -> Option<&'static AcrClass> {
    CLASSES.iter().find(|class| class.name == name)
}

fn methods<S: AsRef<str>>(used: &[S]) -> impl Iterator<Item = &'static AuthenticationMethod> {
    METHODS
        .iter()
        .filter(move |method| used.iter().any(|name| name.as_ref() == method.name))
}

impl Demand {
    fn holds<S: AsRef<str>>(&self, used: &[S]) -> bool {
        match self {
            Demand::Methods(all) => all
                .iter()
                .all(|method| used.iter().any(|name| name.as_ref() == *method)),
            Demand::Factors(most) => {
                let mut factors = Vec::new();
                for factor in methods(used).flat_map(|method| method.factors) {
                    if !factors.contains(&factor) {
                        factors.push(factor);
                    }
                }
                factors.len() >= *most
            }
            Demand::Enrolled => methods(used).any(|method| method.enrolled),
            Demand::PhishingResistant => methods(used).any(|method| method.phishing_resistant),
        }
    }
}

impl AcrClass {
    /// Whether the methods that were used satisfy the class.
    pub fn holds<S: AsRef<str>>(&self, used: &[S]) -> bool {
        self.demands.iter().all(|demand| demand.holds(used))
    }
}

/// The class of what was done: the strongest that holds. None where none does.
pub fn of<S: AsRef<str>>(used: &[S]) -> Option<&'static str> {
    CLASSES
        .iter()
        .find(|class| class.holds(used))
        .map(|class| class.name)
}

/// Whether the class of this name holds for the methods that were used. A name that the server does
/// not have never does.
pub fn holds<S: AsRef<str>>(name: &str, used: &[S]) -> bool {
    class(name).is_some_and(|class| class.holds(used))
}

/// Every class that holds for the methods that were used.
pub fn reached<S: AsRef<str>>(used: &[S]) -> Vec<&'static str> {
    let holding = CLASSES.iter().filter(|class| class.holds(used));
    holding.map(|class| class.name).collect()
}

/// Of the methods in `candidates` (by their names), those that bring `used` to the class of this
/// name, each needed; none where the class holds already, where it is unknown, or where the
/// candidates do not suffice.
pub fn missing<S: AsRef<str>>(
    name: &str,
    used: &[S],
    candidates: &[&'static str],
) -> Vec<&'static str> {
    let Some(class) = class(name) else {
        return Vec::new();
    };
    let mut reached: Vec<&str> = used.iter().map(AsRef::as_ref).collect();
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
        .filter(|candidate| !used.iter().any(|name| name.as_ref() == *candidate))
        .collect();
    // What can be left out is not needed.
    let mut index = 0;
    while index < needed.len() {
        let mut fewer: Vec<&str> = used.iter().map(AsRef::as_ref).collect();
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
        assert_eq!(of(&["password"]), Some(PASSWORD));
        assert_eq!(of(&["email_code"]), Some(EMAIL_CODE));
        assert_eq!(
            of(&["email_code", "password"]),
            Some(PASSWORD_AND_EMAIL_CODE)
        );
        assert_eq!(of::<&str>(&[]), None);
    }

    #[test]
    fn a_login_begins_with_what_says_who_somebody_is() {
        for begins in [
            "password",
            "email_code",
            "provider",
            "passkey_bound",
            "security_key",
        ] {
            assert!(begins_login(&[begins]), "{begins}");
        }
        for adds in ["totp", "recovery_code", REMEMBERED_BROWSER] {
            assert!(!begins_login(&[adds]), "{adds}");
        }
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
        assert!(holds(PASSWORD, &["password", "email_code"]));
        assert!(!holds(PASSWORD_AND_EMAIL_CODE, &["password"]));
        assert!(!holds(EMAIL_CODE, &["password"]));
        assert!(!holds("urn:example:unknown", &["password", "email_code"]));
    }

    #[test]
    fn every_method_alone_has_a_class() {
        for method in METHODS {
            assert!(of(&[method.name]).is_some(), "{}", method.name);
        }
    }

    #[test]
    fn what_is_missing_is_what_is_needed_and_no_more() {
        let all = ["password", "email_code"];
        assert_eq!(
            missing(PASSWORD_AND_EMAIL_CODE, &["password"], &all),
            ["email_code"]
        );
        assert_eq!(missing(PASSWORD, &["email_code"], &all), ["password"]);
        assert!(missing(PASSWORD, &["password"], &all).is_empty());
        assert!(missing(PASSWORD_AND_EMAIL_CODE, &["password"], &["password"]).is_empty());
        assert!(missing("urn:example:unknown", &["password"], &all).is_empty());
    }

    #[test]
    fn factors_and_phishing_resistance_are_predicates_over_the_methods() {
        let two = Demand::Factors(2);
        assert!(two.holds(&["password", "email_code"]));
        assert!(!two.holds(&["password", "password"]));
        assert!(!two.holds(&["password", "unknown"]));
        assert!(!Demand::PhishingResistant.holds(&["password", "email_code"]));
        assert!(Demand::PhishingResistant.holds(&["security_key"]));
        assert!(two.holds(&["passkey_bound"]));
    }

    #[test]
    fn a_mailed_code_is_no_second_factor_and_a_code_of_an_app_is() {
        assert!(!holds(TWO_FACTORS, &["password", "email_code"]));
        assert!(holds(TWO_FACTORS, &["password", "totp"]));
        assert!(!holds(TWO_FACTORS, &["email_code", "totp"]));
        assert!(second_factor_shown(&["email_code", "totp"]));
        assert!(!second_factor_shown(&["password", "email_code"]));
        assert!(!second_factor_shown(&["security_key"]));
        assert!(second_factor_shown(&["password", "security_key"]));
        assert!(second_factor_shown(&["passkey_synced"]));
    }

    #[test]
    fn amr_has_the_registered_values_once_and_mfa_for_two_factors() {
        assert_eq!(amr(&["password"]), ["pwd"]);
        assert_eq!(amr(&["password", "email_code"]), ["pwd", "otp"]);
        assert_eq!(amr(&["password", "totp"]), ["pwd", "otp", "mfa"]);
        assert_eq!(amr(&["password", "remembered_browser"]), ["pwd", "mfa"]);
        assert_eq!(amr(&["passkey_bound"]), ["hwk", "user", "mfa"]);
        assert_eq!(amr(&["email_code", "totp"]), ["otp"]);
    }
}
