//! The table of languages.

/// A language that pages and mails are written in: a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Language(pub(crate) u8);

pub(crate) struct Row {
    /// BCP 47, and the name of its folder.
    tag: &'static str,
    /// Its own name for itself.
    name: &'static str,
    right_to_left: bool,
}

const fn row(tag: &'static str, name: &'static str) -> Row {
    Row {
        tag,
        name,
        right_to_left: false,
    }
}

/// English is the first: what is missing elsewhere is read from it.
const ROWS: [Row; 16] = [
    row("en", "English"),
    row("de", "Deutsch"),
    row("fr", "Français"),
    row("es", "Español"),
    row("it", "Italiano"),
    row("pt", "Português"),
    row("nl", "Nederlands"),
    row("pl", "Polski"),
    row("cs", "Čeština"),
    row("tr", "Türkçe"),
    row("uk", "Українська"),
    Row {
        right_to_left: true,
        ..row("ar", "العربية")
    },
    row("hi", "हिन्दी"),
    row("zh", "简体中文"),
    row("ja", "日本語"),
    row("ko", "한국어"),
];

/// Every language, English first.
pub const LANGUAGES: [Language; ROWS.len()] = {
    let mut all = [Language(0); ROWS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = Language(index as u8);
        index += 1;
    }
    all
};

impl Language {
    /// The language of the sources.
    pub const ENGLISH: Language = LANGUAGES[0];

    fn row(self) -> &'static Row {
        // Invariant: a language is made from the table alone.
        &ROWS[usize::from(self.0)]
    }

    /// Its BCP 47 tag, as in `<html lang>` and `ui_locales_supported`.
    pub fn tag(self) -> &'static str {
        self.row().tag
    }

    /// Its own name for itself.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The direction of its text, as in `<html dir>`.
    pub fn dir(self) -> &'static str {
        if self.row().right_to_left {
            "rtl"
        } else {
            "ltr"
        }
    }

    /// The language of a BCP 47 tag or of a POSIX locale: `de`, `de-AT` and `de_AT.UTF-8` are all
    /// German. The primary subtag decides (RFC 4647 section 3.4, lookup).
    pub fn of_tag(tag: &str) -> Option<Language> {
        let primary = tag.split(['-', '_', '.']).next().unwrap_or_default();
        LANGUAGES
            .into_iter()
            .find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}
