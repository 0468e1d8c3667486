//! What people type to name themselves, in one spelling.
//!
//! The spelling is RFC 8265's (UsernameCaseMapped), and addresses have their domain as IDNA writes
//! it. Accounts that were made before it was are looked up by the spelling of that time, too
//! ([`spellings`]): their rows are left as they are.

mod identifier;
mod made;

use icu_normalizer::ComposingNormalizerBorrowed;
use signet_oauth::people::sign_up::folded_domain;
use signet_store::{Key, Op, Table};

use crate::error::UserError;

pub use made::made_username;

/// Longest user name in characters, after folding.
pub const MAX_USERNAME_CHARS: usize = 64;
/// Longest e-mail address in bytes (RFC 5321 section 4.5.3.1.3, less the angle brackets).
pub const MAX_EMAIL_BYTES: usize = 254;

const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfkc();

/// One spelling for names that people take for the same: white space around is cut, and the rest is
/// mapped as RFC 8265 section 3.3.2 says (width, case, normalisation). The normalisation is NFKC
/// rather than NFC: applications that normalise names do that one, and a new name has no character
/// in which the two differ. What stands behind an `@` is a domain, and becomes its A-labels
/// (RFC 5890). What could make two names look alike without being equal (spaces inside, control,
/// zero-width, bidirectional and variation characters) is refused instead of mapped.
///
/// None: the text cannot be a name.
pub fn fold(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() || text.len() > 4 * MAX_EMAIL_BYTES || !text.chars().all(is_allowed) {
        return None;
    }
    let lowered: String = NFKC
        .normalize(text)
        .chars()
        .flat_map(char::to_lowercase)
        .collect();
    let folded = NFKC.normalize(&lowered);
    if !folded.chars().all(is_allowed) {
        return None;
    }
    let domain = folded.rsplit_once('@');
    let domain = domain.and_then(|(local, domain)| Some((local, folded_domain(domain)?)));
    Some(match domain {
        Some((local, domain)) => format!("{local}@{domain}"),
        None => folded.into_owned(),
    })
}

fn is_allowed(c: char) -> bool {
    !c.is_control() && !c.is_whitespace() && !is_invisible(c)
}

/// The spelling of the versions before [`fold`] was RFC 8265's: full-width forms of ASCII, and
/// case.
fn folded_before(text: &str) -> Option<String> {
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
        if !is_allowed(c) {
            return None;
        }
        folded.extend(c.to_lowercase());
    }
    Some(folded)
}

/// Under which rows a name may stand: those of earlier versions first, for they are exactly what
/// was typed then, and [`fold`] last. For nearly every name it is one.
pub(crate) fn spellings(text: &str) -> Vec<String> {
    let folded = fold(text);
    // What an earlier version wrote of an address whose domain is typed as A-labels now.
    let labels = folded.as_deref().and_then(|folded| {
        let (local, domain) = folded.rsplit_once('@')?;
        let is_encoded = domain.split('.').any(|label| label.starts_with("xn--"));
        is_encoded.then(|| format!("{local}@{}", idna::domain_to_unicode(domain).0))
    });
    let mut all = Vec::with_capacity(1);
    for one in [folded_before(text), labels, folded].into_iter().flatten() {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// The row of a name. One name space: a user name never equals another user's e-mail address.
pub(crate) fn lookup_key(folded: &str) -> Key {
    Key::new(Table::UserLookup, folded.as_bytes())
}

/// The row by which a name leads to an account for good.
pub(crate) fn claimed(folded: &str, id: &str) -> Op {
    Op::Put {
        key: lookup_key(folded),
        value: id.as_bytes().to_vec(),
        end: None,
    }
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

/// As [`folded_username`], of a name that is given now: unless an administrator chose it, it is an
/// identifier as RFC 8264 section 4.2 has them, keeps the rule for right-to-left scripts, and has
/// letters of one script.
pub(crate) fn new_username(text: &str, by_administrator: bool) -> Result<String, UserError> {
    let folded = folded_username(text)?;
    if by_administrator {
        return Ok(folded);
    }
    if !identifier::is_identifier(text.trim()) || !identifier::keeps_direction(&folded) {
        return Err(UserError::Username);
    }
    match identifier::has_one_script(&folded) {
        true => Ok(folded),
        false => Err(UserError::MixedScripts),
    }
}

/// An e-mail address in its one spelling; [`UserError::Email`] where the text cannot be one.
pub fn folded_email(text: &str) -> Result<String, UserError> {
    let folded = fold(text).ok_or(UserError::Email)?;
    let domain = folded.rsplit_once('@').map(|(_, domain)| domain);
    let well_formed = folded.len() <= MAX_EMAIL_BYTES
        && domain.is_some_and(|domain| folded_domain(domain).is_some() && !domain.ends_with('.'))
        && folded.parse::<lettre::Address>().is_ok();
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

    // RFC 8265 section 3.3.2, and what applications make of a name (MP4).
    #[test]
    fn a_name_is_folded_as_rfc_8265_says() {
        for (typed, folded) in [
            ("Alice", "alice"),
            (" ALICE ", "alice"),
            ("\u{ff21}lice", "alice"),
            ("\u{1d41a}\u{1d41d}\u{1d426}\u{1d422}\u{1d427}", "admin"),
            ("zoe\u{308}", "zo\u{eb}"),
            ("\u{ff76}\u{ff9e}", "\u{30ac}"),
            ("stra\u{df}e", "stra\u{df}e"),
            ("x\u{2460}", "x1"),
        ] {
            assert_eq!(fold(typed).as_deref(), Some(folded), "{typed}");
            assert_eq!(fold(folded).as_deref(), Some(folded), "folded twice");
        }
    }

    #[test]
    fn the_domain_of_an_address_is_folded_to_its_a_labels() {
        for (typed, folded) in [
            ("X@\u{ff45}vil.example", "x@evil.example"),
            ("x@M\u{dc}NCHEN.example", "x@xn--mnchen-3ya.example"),
            ("x@xn--mnchen-3ya.EXAMPLE", "x@xn--mnchen-3ya.example"),
            ("x@evil\u{3002}example", "x@evil.example"),
        ] {
            assert_eq!(folded_email(typed).unwrap(), folded, "{typed}");
        }
        assert!(folded_email("x@evil.example.").is_err());
        assert!(folded_email("x@xn--a.example").is_err());
    }

    #[test]
    fn a_name_of_an_earlier_version_is_looked_up_as_it_was_written() {
        assert_eq!(spellings("Alice"), ["alice"]);
        assert_eq!(spellings("\u{fb01}sh"), ["\u{fb01}sh", "fish"]);
        let of_address = ["x@m\u{fc}nchen.example", "x@xn--mnchen-3ya.example"];
        assert_eq!(spellings("x@m\u{fc}nchen.example"), of_address);
        let mut of_labels = spellings("x@xn--mnchen-3ya.example");
        of_labels.sort_unstable();
        assert_eq!(of_labels, of_address);
    }

    #[test]
    fn a_new_name_is_an_identifier_of_one_script() {
        for good in [
            "alice",
            "a.b-c_d+1",
            "bob@example.test",
            "\u{e4}rger",
            "\u{438}\u{432}\u{430}\u{43d}2",
            "\u{65e5}\u{672c}\u{304b}\u{306a}\u{30ab}",
            "\u{d55c}\u{6f22}",
            "\u{5d3}\u{5d5}\u{5d3}",
            "\u{ff41}lice",
        ] {
            assert!(new_username(good, false).is_ok(), "{good}");
        }
        for bad in [
            "\u{1d41a}dmin",
            "\u{fb01}sh",
            "a\u{1f600}",
            "x\u{ae}",
            "\u{5d3}1a",
        ] {
            let refused = new_username(bad, false);
            assert!(matches!(refused, Err(UserError::Username)), "{bad}");
            assert!(new_username(bad, true).is_ok(), "{bad}");
        }
        for mixed in ["\u{430}lice", "p\u{3b1}ypal", "\u{30ed}\u{43e}"] {
            let refused = new_username(mixed, false);
            assert!(matches!(refused, Err(UserError::MixedScripts)), "{mixed}");
            assert!(new_username(mixed, true).is_ok(), "{mixed}");
        }
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
