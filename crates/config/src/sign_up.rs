//! `[sign_up]`.

use signet_oauth::people::sign_up::{
    MAX_DOMAINS, MAX_TERMS_VERSION_BYTES, SignUpSettings, Terms, check_domain,
};
use signet_oauth::uri::Uri;

use super::fault::Faults;
use super::model::{Config, SignUp};

/// As the settings have it.
pub(super) fn settings(config: &Config, faults: &mut Faults) -> SignUpSettings {
    let wanted = &config.sign_up;
    if wanted.enabled && config.mail.is_none() {
        faults.add(
            "sign_up.enabled",
            "needs [mail]: an address is verified first",
        );
    }
    if wanted.enabled && !config.protocol.local_login {
        faults.add(
            "sign_up.enabled",
            "people log in at identity providers alone (protocol.local_login)",
        );
    }
    let mut domains = |name: &str, list: &[String]| -> Vec<String> {
        if list.len() > MAX_DOMAINS {
            faults.add(format!("sign_up.{name}"), format!("at most {MAX_DOMAINS}"));
        }
        let lowered: Vec<String> = list.iter().map(|one| one.to_ascii_lowercase()).collect();
        for (i, domain) in lowered.iter().enumerate() {
            if let Err(fault) = check_domain(domain) {
                faults.add(format!("sign_up.{name}[{i}]"), fault);
            }
        }
        lowered
    };
    SignUpSettings {
        enabled: wanted.enabled,
        domains: domains("domains", &wanted.domains),
        denied_domains: domains("denied_domains", &wanted.denied_domains),
        terms: terms(wanted, faults),
    }
}

fn terms(wanted: &SignUp, faults: &mut Faults) -> Option<Terms> {
    let (url, version) = match (&wanted.terms_url, &wanted.terms_version) {
        (None, None) => return None,
        (Some(url), Some(version)) => (url, version),
        (Some(_), None) | (None, Some(_)) => {
            faults.add("sign_up", "terms_url and terms_version go together");
            return None;
        }
    };
    let is_url = Uri::parse(url).is_some_and(|url| url.scheme == "https" && url.host.is_some());
    if !is_url {
        faults.add("sign_up.terms_url", "must be an https URL");
    }
    let fits = (1..=MAX_TERMS_VERSION_BYTES).contains(&version.len());
    if !fits || version.chars().any(char::is_control) {
        faults.add(
            "sign_up.terms_version",
            format!("1 to {MAX_TERMS_VERSION_BYTES} bytes, without control characters"),
        );
    }
    Some(Terms {
        url: url.clone(),
        version: version.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (SignUpSettings, Vec<String>) {
        let text = format!("issuer = \"https://id.example\"\nlisteners = []\n{text}");
        let config: Config = toml::from_str(&text).expect(&text);
        let mut faults = Faults::default();
        let settings = settings(&config, &mut faults);
        (
            settings,
            faults.0.into_iter().map(|fault| fault.path).collect(),
        )
    }

    #[test]
    fn nobody_signs_up_by_default() {
        assert_eq!(read(""), (SignUpSettings::default(), Vec::new()));
    }

    #[test]
    fn what_can_be_is_taken_and_domains_are_lowered() {
        let (settings, faults) = read(
            "[mail]\nfrom = \"a@example.com\"\ndirectory = \"mail\"\n[sign_up]\nenabled = true\n\
             domains = [\"Example.com\"]\nterms_url = \"https://example.com/terms\"\nterms_version = \"1\"\n",
        );
        assert_eq!(faults, Vec::<String>::new());
        assert!(settings.enabled);
        assert_eq!(settings.domains, ["example.com"]);
        assert_eq!(settings.terms.unwrap().version, "1");
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, path) in [
            ("enabled = true", "sign_up.enabled"),
            ("domains = [\"*.example.com\"]", "sign_up.domains[0]"),
            (
                "denied_domains = [\"a\", \"b c\"]",
                "sign_up.denied_domains[1]",
            ),
            ("terms_url = \"https://example.com\"", "sign_up"),
            ("terms_version = \"1\"", "sign_up"),
            (
                "terms_url = \"http://example.com\"\nterms_version = \"1\"",
                "sign_up.terms_url",
            ),
            (
                "terms_url = \"https://example.com\"\nterms_version = \"\"",
                "sign_up.terms_version",
            ),
        ] {
            let (_, faults) = read(&format!("[sign_up]\n{text}\n"));
            assert_eq!(faults, [path], "{text}");
        }
    }
}
