//! Which language a person reads.

use super::languages::Language;

/// Longest `Accept-Language` that is looked at, in entries: browsers send a handful.
const MAX_ENTRIES: usize = 32;

/// Everything that says which language somebody would like, each where it is known.
///
/// What a person chose in the menu counts most: without that the menu would be without effect in
/// front of an application that always names a language.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wishes<'a> {
    /// Chosen in the menu of this browser.
    pub menu: Option<Language>,
    /// By the request's `ui_locales` (OpenID Connect Core section 3.1.2.1).
    pub request: Option<Language>,
    /// The person's `locale`, as their account has it.
    pub person: Option<&'a str>,
    /// The browser's `Accept-Language` (RFC 9110 section 12.5.4).
    pub accept: Option<&'a str>,
}

impl Wishes<'_> {
    /// The language; English where nothing that is wished for is there.
    pub fn choose(&self) -> Language {
        self.menu
            .or(self.request)
            .or_else(|| self.person.and_then(Language::of_tag))
            .or_else(|| self.accept.and_then(accepted))
            .unwrap_or_default()
    }
}

/// The most wished for of `Accept-Language` that is there; of equal ones the first.
fn accepted(header: &str) -> Option<Language> {
    let mut best: Option<(u16, Language)> = None;
    for entry in header.split(',').take(MAX_ENTRIES) {
        let (tag, parameters) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight(parameters);
        if let Some(language) = Language::of_tag(tag.trim())
            && weight > best.map_or(0, |(weight, _)| weight)
        {
            best = Some((weight, language));
        }
    }
    best.map(|(_, language)| language)
}

/// Thousandths; 0, which excludes, where it cannot be read.
fn weight(parameters: &str) -> u16 {
    let Some(text) = parameters.trim().strip_prefix("q=") else {
        return if parameters.trim().is_empty() {
            1000
        } else {
            0
        };
    };
    match text.trim().parse::<f32>() {
        Ok(q) if (0.0..=1.0).contains(&q) => (q * 1000.0) as u16,
        _ => 0,
    }
}
