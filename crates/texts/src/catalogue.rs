//! The messages of the languages.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

use super::languages::{LANGUAGES, Language};

/// Tag and texts, by the folders' names.
pub(crate) const SOURCES: &[(&str, &[&str])] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// What stands for a variable of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arg<'a> {
    /// Counts: the language's plural follows it.
    Number(u64),
    /// As it is.
    Text(&'a str),
}

impl From<u64> for Arg<'_> {
    fn from(number: u64) -> Self {
        Arg::Number(number)
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(text: &'a String) -> Self {
        Arg::Text(text)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Arg::Text(text)
    }
}

pub(crate) type Bundle = FluentBundle<Arc<FluentResource>>;

/// Of one thing for each language.
type OfEach<T> = [OnceLock<T>; LANGUAGES.len()];

/// Each is parsed at its first use: most servers speak a few of them.
static RESOURCES: OfEach<Vec<Arc<FluentResource>>> = [const { OnceLock::new() }; LANGUAGES.len()];
static BUNDLES: OfEach<Bundle> = [const { OnceLock::new() }; LANGUAGES.len()];

/// The files of a language.
pub(crate) fn resources(language: Language) -> &'static [Arc<FluentResource>] {
    // Invariant: there are as many as there are languages.
    RESOURCES[usize::from(language.0)].get_or_init(|| {
        let files = SOURCES
            .iter()
            .filter(|(tag, _)| *tag == language.tag())
            .flat_map(|(_, files)| files.iter());
        // What cannot be parsed is left out, and read from English (a test finds it).
        let parse = |file: &&str| match FluentResource::try_new((*file).to_owned()) {
            Ok(resource) | Err((resource, _)) => Arc::new(resource),
        };
        files.map(parse).collect()
    })
}

pub(crate) fn bundle(language: Language) -> &'static Bundle {
    BUNDLES[usize::from(language.0)].get_or_init(|| bundle_of(language))
}

/// The house's texts of a language, to which others may be added.
pub(crate) fn bundle_of(language: Language) -> Bundle {
    // Invariant: the table's tags are tags (a test parses them all).
    let mut bundle = Bundle::new_concurrent(language.tag().parse().into_iter().collect());
    // HTML has `<bdi>` for it, and in a mail's text the marks would stand between a code and
    // a reader who copies it.
    bundle.set_use_isolating(false);
    for resource in resources(language) {
        bundle.add_resource_overriding(Arc::clone(resource));
    }
    bundle
}

/// The variables of a text, for Fluent.
pub(crate) fn arguments<'a>(args: &'a [(&'static str, Arg<'a>)]) -> FluentArgs<'a> {
    let mut values = FluentArgs::with_capacity(args.len());
    for (name, value) in args {
        match value {
            Arg::Number(number) => values.set(*name, FluentValue::from(*number)),
            Arg::Text(text) => values.set(*name, FluentValue::from(*text)),
        }
    }
    values
}

/// A text of a bundle, which may borrow of it.
pub(crate) fn format<'b>(
    bundle: &'b Bundle,
    id: &str,
    args: Option<&FluentArgs<'_>>,
) -> Option<Cow<'b, str>> {
    let pattern = bundle.get_message(id)?.value()?;
    let mut errors = Vec::new();
    match args {
        None => Some(bundle.format_pattern(pattern, None, &mut errors)),
        Some(args) => {
            let text = bundle.format_pattern(pattern, Some(args), &mut errors);
            Some(Cow::Owned(text.into_owned()))
        }
    }
}

impl Language {
    /// A text without variables. One that is nowhere is its own id: nothing fails for want of a
    /// word.
    pub fn text(self, id: &'static str) -> Cow<'static, str> {
        self.format(id, None).unwrap_or(Cow::Borrowed(id))
    }

    /// A text without variables in the language of the sources: for what programs read.
    pub fn english(id: &'static str) -> &'static str {
        match Language::ENGLISH.text(id) {
            Cow::Borrowed(text) => text,
            Cow::Owned(_) => id,
        }
    }

    /// Whether there is such a text.
    pub fn has(self, id: &str) -> bool {
        bundle(self).has_message(id) || bundle(Language::ENGLISH).has_message(id)
    }

    /// A text whose id is put together; None if it is missing.
    pub fn find(self, id: &str) -> Option<Cow<'static, str>> {
        self.format(id, None)
    }

    /// A text with its variables.
    pub fn with(self, id: &str, args: &[(&'static str, Arg<'_>)]) -> String {
        let values = arguments(args);
        let text = self.format(id, Some(&values));
        text.map_or_else(|| id.to_owned(), Cow::into_owned)
    }

    fn format(self, id: &str, args: Option<&FluentArgs<'_>>) -> Option<Cow<'static, str>> {
        let languages = [self, Language::ENGLISH].into_iter();
        languages
            .map(bundle)
            .find_map(|bundle| format(bundle, id, args))
    }
}
