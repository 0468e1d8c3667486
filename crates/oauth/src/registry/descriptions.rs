//! One description in several languages. Whoever wrote the record chose the languages: they need
//! not be those that pages are written in, and a reader without a text of their own reads the
//! record's `description`.

use crate::people::check_description;
use std::collections::BTreeMap;

/// Most languages of one description, the one that stands for all others aside.
pub const MAX_DESCRIPTION_LANGUAGES: usize = 32;
/// The longest tag of a language, in bytes (RFC 5646 section 4.4.1).
pub const MAX_LANGUAGE_TAG_BYTES: usize = 35;

/// Texts by the tags of their languages, as they were written. No two tags are the same but for
/// their case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptions(BTreeMap<String, String>);

impl Descriptions {
    /// Texts that somebody wrote, or that were stored.
    ///
    /// # Errors
    /// What is wrong with them; a text or tag that is at fault is named by its tag.
    pub fn read(texts: BTreeMap<String, String>) -> Result<Descriptions, String> {
        if texts.len() > MAX_DESCRIPTION_LANGUAGES {
            return Err(format!(
                "{} languages are more than {MAX_DESCRIPTION_LANGUAGES}",
                texts.len()
            ));
        }
        let mut known: Vec<&str> = Vec::with_capacity(texts.len());
        for (tag, text) in &texts {
            if !is_language_tag(tag) {
                return Err(format!(
                    "{tag:?} is no tag of a language, as de and pt-BR are (RFC 5646)"
                ));
            }
            // RFC 5646 section 2.1.1: tags are the same whatever their case.
            if let Some(other) = known.iter().find(|other| other.eq_ignore_ascii_case(tag)) {
                return Err(format!("{other} and {tag} are one language"));
            }
            if check_description(Some(text)).is_err() {
                return Err(format!("{tag} must be a short text"));
            }
            known.push(tag);
        }
        Ok(Descriptions(texts))
    }

    /// The text for somebody who reads the language of this tag: the language's own, else the first
    /// of the same primary subtag. Whoever reads `pt` understands `pt-BR` better than what is in
    /// another language.
    pub fn of(&self, reader: &str) -> Option<&str> {
        let found = |fits: &dyn Fn(&str) -> bool| self.0.iter().find(|(tag, _)| fits(tag));
        found(&|tag| tag.eq_ignore_ascii_case(reader))
            .or_else(|| found(&|tag| primary(tag).eq_ignore_ascii_case(primary(reader))))
            .map(|(_, text)| text.as_str())
    }

    /// All of them.
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// The subtag that says which language it is (RFC 5646 section 2.2.1).
fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

/// RFC 5646 section 2.1: subtags of one to eight letters and digits. The first one has letters
/// alone; those of one letter (`x-`, `i-`) name no language.
fn is_language_tag(tag: &str) -> bool {
    tag.len() <= MAX_LANGUAGE_TAG_BYTES
        && primary(tag).len() >= 2
        && primary(tag).bytes().all(|b| b.is_ascii_alphabetic())
        && tag.split('-').all(|subtag| {
            (1..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::MAX_DESCRIPTION_BYTES;

    fn read(texts: &[(&str, &str)]) -> Result<Descriptions, String> {
        let texts = texts
            .iter()
            .map(|(tag, text)| ((*tag).into(), (*text).into()));
        Descriptions::read(texts.collect())
    }

    #[test]
    fn a_reader_gets_the_own_language_then_the_nearest_one_then_none() {
        let texts = read(&[("de", "D"), ("de-AT", "A"), ("pt-BR", "B"), ("pt-PT", "P")]).unwrap();
        for (reader, text) in [
            ("de", Some("D")),
            ("DE-at", Some("A")),
            ("de-CH", Some("D")),
            ("pt-PT", Some("P")),
            ("pt", Some("B")),
            ("d", None),
            ("en", None),
            ("", None),
        ] {
            assert_eq!(texts.of(reader), text, "{reader}");
        }
    }

    #[test]
    fn what_is_no_tag_or_no_text_is_refused_by_its_tag() {
        for tag in [
            "de",
            "DE",
            "pt-BR",
            "zh-Hans-CN",
            "sl-rozaj-biske",
            "de-1996",
            "es-419",
        ] {
            assert!(read(&[(tag, "x")]).is_ok(), "{tag}");
        }
        let long = format!("de-{}", "abcdefgh-".repeat(4) + "ab");
        for tag in [
            "",
            "d",
            "x-own",
            "de_AT",
            "de-",
            "-de",
            "de--AT",
            "12",
            "deutsch-ländisch",
            "german-austrian1",
            "languages",
            " de",
            long.as_str(),
        ] {
            let refused = read(&[("en", "x"), (tag, "x")]).unwrap_err();
            assert!(refused.contains(&format!("{tag:?} is no tag")), "{refused}");
        }
        let long = "x".repeat(MAX_DESCRIPTION_BYTES + 1);
        for text in ["", "two\nlines", long.as_str()] {
            let refused = read(&[("de", text)]).unwrap_err();
            assert_eq!(refused, "de must be a short text");
        }
        assert!(read(&[("de", &long[1..])]).is_ok());
        let refused = read(&[("de", "x"), ("DE", "y")]).unwrap_err();
        assert_eq!(refused, "DE and de are one language");
    }

    #[test]
    fn a_description_has_a_bounded_number_of_languages() {
        let of = |count: usize| {
            let texts = (0..count).map(|n| (format!("de-x-{n}"), "x".to_owned()));
            Descriptions::read(texts.collect())
        };
        assert!(of(MAX_DESCRIPTION_LANGUAGES).is_ok());
        let refused = of(MAX_DESCRIPTION_LANGUAGES + 1).unwrap_err();
        assert_eq!(refused, "33 languages are more than 32");
    }
}
