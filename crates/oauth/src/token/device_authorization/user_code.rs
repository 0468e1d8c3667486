//! The user code: short enough to type, and read however it is typed.

/// Twenty letters that are neither vowels nor alike (RFC 8628 section 6.1): 20^8 codes, 34 bits.
pub const USER_CODE_ALPHABET: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";
/// Letters of a user code, without its dash.
pub const USER_CODE_LETTERS: usize = 8;

/// A fresh user code, without dash.
pub fn new_user_code(mut below: impl FnMut(u32) -> u32) -> String {
    let letters = USER_CODE_ALPHABET.len();
    (0..USER_CODE_LETTERS)
        .map(|_| char::from(USER_CODE_ALPHABET[below(letters as u32) as usize % letters]))
        .collect()
}

/// `WDJB-MJHT`: as people read and type it.
pub fn display_user_code(user_code: &str) -> String {
    match user_code.split_at_checked(USER_CODE_LETTERS / 2) {
        Some((front, back)) => format!("{front}-{back}"),
        None => user_code.to_owned(),
    }
}

/// What a person typed, as it is stored: case, dashes and spaces do not count (section 6.1). None:
/// it cannot be one.
pub fn normalize_user_code(typed: &str) -> Option<String> {
    if typed.len() > 64 {
        return None;
    }
    let code: String = typed
        .chars()
        .filter(|c| !matches!(c, '-' | ' '))
        .map(|c| c.to_ascii_uppercase())
        .collect();
    let fits =
        code.len() == USER_CODE_LETTERS && code.bytes().all(|b| USER_CODE_ALPHABET.contains(&b));
    fits.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn user_codes_are_read_as_people_type_them() {
        assert_eq!(display_user_code("WDJBMJHT"), "WDJB-MJHT");
        for typed in ["WDJB-MJHT", "wdjbmjht", " wdjb mjht "] {
            assert_eq!(normalize_user_code(typed).as_deref(), Some("WDJBMJHT"));
        }
        for bad in ["", "WDJB-MJH", "WDJB-MJHTT", "AEIO-UAEI", "WDJB-MJH\u{17f}"] {
            assert_eq!(normalize_user_code(bad), None, "{bad}");
        }
        let mut n = 0;
        let made = new_user_code(|bound| {
            n += 7;
            n % bound
        });
        assert_eq!(normalize_user_code(&made).as_deref(), Some(made.as_str()));
    }

    proptest! {
        #[test]
        fn reading_what_somebody_typed_never_panics(typed in ".{0,80}") {
            if let Some(code) = normalize_user_code(&typed) {
                prop_assert_eq!(code.len(), USER_CODE_LETTERS);
            }
        }
    }
}
