//! What people type to name themselves, in one spelling.

use crate::error::UserError;

/// Longest user name in characters, after folding.
pub const MAX_USERNAME_CHARS: usize = 64;
/// Longest e-mail address in bytes (RFC 5321 section 4.5.3.1.3, less the angle brackets).
pub const MAX_EMAIL_BYTES: usize = 254;

/// One spelling for names that people take for the same: white space around is cut, full-width
/// forms become ASCII, letters are lowered (Unicode default mapping). This is the part of NFKC case
/// folding that matters for what people type at a login; what could make two names look alike
/// without being equal (spaces inside, control, zero-width, bidirectional and variation characters)
/// is refused instead of mapped.
///
/// None: the text cannot be a name.
pub fn fold(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > 4 * MAX_EMAIL_BYTES {
        return None;
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        let c = match c {
            // U+FF01..U+FF5E are the full-width forms of U+0021..U+007E, in the same order.
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0)?,
            c => c,
        };
        if c.is_control() || c.is_whitespace() || is_invisible(c) {
            return None;
        }
        folded.extend(c.to_lowercase());
    }
    Some(folded)
}

/// Characters without a shape of their own (format characters, fillers, variation selectors,
/// private use, tags).
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}

/// A user name in its one spelling; [`UserError::Username`] where the text cannot be one.
pub fn folded_username(text: &str) -> Result<String, UserError> {
    let folded = fold(text).ok_or(UserError::Username)?;
    if folded.chars().count() > MAX_USERNAME_CHARS {
        return Err(UserError::Username);
    }
    Ok(folded)
}

/// An e-mail address in its one spelling; [`UserError::Email`] where the text cannot be one.
pub fn folded_email(text: &str) -> Result<String, UserError> {
    let folded = fold(text).ok_or(UserError::Email)?;
    let well_formed = folded.len() <= MAX_EMAIL_BYTES && folded.parse::<lettre::Address>().is_ok();
    if well_formed {
        Ok(folded)
    } else {
        Err(UserError::Email)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_invisible_or_odd_characters_are_refused() {
        for text in [
            "",
            " ",
            "a b",
            "a\u{200b}b",
            "a\u{202e}b",
            "a\u{0}b",
            "a\nb",
            "a\u{feff}",
            "\u{e0061}",
        ] {
            assert_eq!(fold(text), None, "{text:?}");
        }
        assert_eq!(fold("\u{c4}RGER").as_deref(), Some("\u{e4}rger"));
    }

    #[test]
    fn addresses_are_checked() {
        for text in [
            "a",
            "a@",
            "@b.test",
            "a@b@c.test",
            "a b@c.test",
            "a@b..test",
        ] {
            assert!(folded_email(text).is_err(), "{text}");
        }
        assert!(folded_email("a.b+c@example.test").is_ok());
    }
}
