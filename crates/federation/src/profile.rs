//! Standard claims of a provider that become the profile of an account.
use serde_json::Value;
use signet_directory::Profile;

/// Members of the profile that a claim may become.
pub(crate) const NAMES: [&str; 12] = [
    "name",
    "given_name",
    "family_name",
    "middle_name",
    "nickname",
    "profile",
    "picture",
    "website",
    "gender",
    "birthdate",
    "zoneinfo",
    "locale",
];
/// The longest text that is taken over, in bytes: what a profile takes.
const MAX_TEXT: usize = 1024;

/// Puts a text into a member of the profile; one that cannot be there is left out.
pub(crate) fn set(profile: &mut Profile, name: &str, text: &str) {
    if text.is_empty() || text.len() > MAX_TEXT || text.chars().any(char::is_control) {
        return;
    }
    let member = match name {
        "name" => &mut profile.name,
        "given_name" => &mut profile.given_name,
        "family_name" => &mut profile.family_name,
        "middle_name" => &mut profile.middle_name,
        "nickname" => &mut profile.nickname,
        "profile" => &mut profile.profile,
        "picture" => &mut profile.picture,
        "website" => &mut profile.website,
        "gender" => &mut profile.gender,
        "birthdate" => &mut profile.birthdate,
        "zoneinfo" => &mut profile.zoneinfo,
        "locale" => &mut profile.locale,
        _ => return,
    };
    *member = Some(text.to_owned());
}

/// The profile that a new account begins with.
pub fn of(claims: &Value) -> Profile {
    let mut profile = Profile::default();
    for name in NAMES {
        if let Some(text) = claims.get(name).and_then(Value::as_str) {
            set(&mut profile, name, text);
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_name_is_a_member_and_what_cannot_be_one_is_left_out() {
        for name in NAMES {
            let mut profile = Profile::default();
            set(&mut profile, name, "x");
            assert_ne!(profile, Profile::default(), "{name}");
            let mut profile = Profile::default();
            for text in ["", "a\nb", &"x".repeat(MAX_TEXT + 1)] {
                set(&mut profile, name, text);
            }
            assert_eq!(profile, Profile::default(), "{name}");
        }
        let claims = json!({ "name": "Ann", "email": "a@x.example", "locale": 7 });
        assert_eq!(of(&claims).name.as_deref(), Some("Ann"));
        assert_eq!(of(&claims).locale, None);
    }
}
