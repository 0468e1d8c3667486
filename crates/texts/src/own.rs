//! Texts that a realm has in place of the house's.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fluent_bundle::FluentResource;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Message, Pattern, PatternElement};

use crate::catalogue::{Arg, Bundle, arguments, bundle_of, format, resources};
use crate::languages::{LANGUAGES, Language};

/// Most texts of a realm's own, of all languages together
pub const MAX_OWN_TEXTS: usize = 500;
/// Longest text of a realm's own, in bytes
pub const MAX_OWN_TEXT_BYTES: usize = 2048;

/// Texts by the language's tag and the id, as they were given.
type Given = BTreeMap<&'static str, BTreeMap<String, String>>;

/// Own texts by language and id. What has none is the house's.
#[derive(Default)]
pub struct OwnTexts {
    given: Given,
    bundles: Vec<(Language, Bundle)>,
}

impl std::fmt::Debug for OwnTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OwnTexts")
            .field(&count(&self.given))
            .finish()
    }
}

impl PartialEq for OwnTexts {
    fn eq(&self, other: &OwnTexts) -> bool {
        self.given == other.given
    }
}

impl OwnTexts {
    /// Reads texts: the tag of a language, the id of one of the house's texts, and what is shown in
    /// its place. It is a Fluent pattern, may have the variables that the house's has, and no
    /// others.
    ///
    /// # Errors
    /// The first that is wrong, as `TAG.ID`, and why.
    pub fn new<'a>(
        texts: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Result<OwnTexts, (String, String)> {
        let mut given = Given::new();
        for (tag, id, text) in texts {
            let wrong = |why: String| (format!("{tag}.{id}"), why);
            let mut languages = LANGUAGES.into_iter();
            let Some(language) = languages.find(|language| language.tag() == tag) else {
                return Err((tag.to_owned(), no_language()));
            };
            check(id, text).map_err(wrong)?;
            let of_language = given.entry(language.tag()).or_default();
            of_language.insert(id.to_owned(), text.to_owned());
            if count(&given) > MAX_OWN_TEXTS {
                return Err(wrong(format!("there are more than {MAX_OWN_TEXTS} texts")));
            }
        }
        Ok(OwnTexts::made(given))
    }

    /// These; where these have none of an id, the other ones.
    #[must_use]
    pub fn over(&self, other: &OwnTexts) -> OwnTexts {
        let mut given = other.given.clone();
        for (tag, texts) in &self.given {
            given.entry(tag).or_default().extend(texts.clone());
        }
        OwnTexts::made(given)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    fn made(given: Given) -> OwnTexts {
        let bundles = given.iter().filter_map(|(tag, texts)| {
            let language = Language::of_tag(tag)?;
            let mut bundle = bundle_of(language);
            let source: String = texts.iter().map(|(id, text)| source(id, text)).collect();
            // Each was parsed by itself before.
            let resource = FluentResource::try_new(source).ok()?;
            bundle.add_resource_overriding(Arc::new(resource));
            Some((language, bundle))
        });
        OwnTexts {
            bundles: bundles.collect(),
            given,
        }
    }

    fn bundle(&self, language: Language, id: &str) -> Option<&Bundle> {
        self.given.get(language.tag())?.get(id)?;
        let mut bundles = self.bundles.iter();
        Some(&bundles.find(|(of, _)| *of == language)?.1)
    }

    /// An own text without variables.
    pub fn text(&self, language: Language, id: &str) -> Option<Cow<'_, str>> {
        format(self.bundle(language, id)?, id, None)
    }

    /// An own text with its variables.
    pub fn with(
        &self,
        language: Language,
        id: &str,
        args: &[(&'static str, Arg<'_>)],
    ) -> Option<String> {
        let text = format(self.bundle(language, id)?, id, Some(&arguments(args)));
        text.map(Cow::into_owned)
    }
}

fn count(given: &Given) -> usize {
    given.values().map(BTreeMap::len).sum()
}

/// A message of a file; further lines of the text are set in, as Fluent has them.
fn source(id: &str, text: &str) -> String {
    format!("{id} = {}\n", text.replace('\n', "\n    "))
}

fn no_language() -> String {
    let tags: Vec<&str> = LANGUAGES.iter().map(|language| language.tag()).collect();
    format!("there is no such language: {}", tags.join(", "))
}

fn message<'r>(resource: &'r FluentResource, id: &str) -> Option<&'r Message<&'r str>> {
    resource.entries().find_map(|entry| match entry {
        Entry::Message(message) if message.id.name == id => Some(message),
        _ => None,
    })
}

/// The house's English text: the other languages have the same variables.
fn house(id: &str) -> Option<&'static Pattern<&'static str>> {
    let mut files = resources(Language::ENGLISH).iter();
    files.find_map(|file| message(file, id)?.value.as_ref())
}

/// What a text names.
#[derive(Default)]
struct Names<'a> {
    variables: BTreeSet<&'a str>,
    /// Other texts, which are set in.
    texts: BTreeSet<&'a str>,
    /// It has a function, a term or an attribute: none of the house's has.
    is_foreign: bool,
}

impl<'a> Names<'a> {
    fn of(pattern: &Pattern<&'a str>) -> Names<'a> {
        let mut names = Names::default();
        names.pattern(pattern);
        names
    }

    fn pattern(&mut self, pattern: &Pattern<&'a str>) {
        for element in &pattern.elements {
            if let PatternElement::Placeable { expression } = element {
                self.expression(expression);
            }
        }
    }

    fn expression(&mut self, expression: &Expression<&'a str>) {
        match expression {
            Expression::Inline(inline) => self.inline(inline),
            Expression::Select { selector, variants } => {
                self.inline(selector);
                for variant in variants {
                    self.pattern(&variant.value);
                }
            }
        }
    }

    fn inline(&mut self, inline: &InlineExpression<&'a str>) {
        match inline {
            InlineExpression::StringLiteral { .. } | InlineExpression::NumberLiteral { .. } => {}
            InlineExpression::VariableReference { id } => drop(self.variables.insert(id.name)),
            InlineExpression::MessageReference {
                id,
                attribute: None,
            } => drop(self.texts.insert(id.name)),
            InlineExpression::Placeable { expression } => self.expression(expression),
            InlineExpression::MessageReference { .. }
            | InlineExpression::FunctionReference { .. }
            | InlineExpression::TermReference { .. } => self.is_foreign = true,
        }
    }

    /// With those of the texts that it sets in, which set in none.
    fn all_variables(&self) -> BTreeSet<&'a str> {
        let set_in = self.texts.iter().filter_map(|id| house(id));
        let of_texts = set_in.flat_map(|pattern| Names::of(pattern).variables);
        self.variables.iter().copied().chain(of_texts).collect()
    }
}

fn check(id: &str, text: &str) -> Result<(), String> {
    let Some(house) = house(id) else {
        return Err("there is no text of this id; `signet config texts` lists them".to_owned());
    };
    if text.trim().is_empty() || text.len() > MAX_OWN_TEXT_BYTES {
        return Err(format!("needs 1 to {MAX_OWN_TEXT_BYTES} bytes of text"));
    }
    if text.contains(|c: char| c.is_control() && c != '\n') {
        return Err("has a control character".to_owned());
    }
    let not_one = || "is not one Fluent pattern: braces and leading marks are Fluent's".to_owned();
    let resource = FluentResource::try_new(source(id, text)).map_err(|_| not_one())?;
    let own = match (message(&resource, id), resource.entries().count()) {
        (Some(own), 1) if own.attributes.is_empty() => own,
        _ => return Err(not_one()),
    };
    let pattern = own.value.as_ref().ok_or_else(not_one)?;
    let (own, house) = (Names::of(pattern), Names::of(house));
    if own.is_foreign {
        return Err("may have variables and other texts alone".to_owned());
    }
    if let Some(other) = own.texts.difference(&house.texts).next() {
        return Err(format!("sets in {other}, which the house's text does not"));
    }
    let known = house.all_variables();
    match own.variables.difference(&known).next() {
        None => Ok(()),
        Some(other) if known.is_empty() => Err(format!("has ${other}; this text has no variables")),
        Some(other) => {
            let known: Vec<String> = known.iter().map(|name| format!("${name}")).collect();
            let known = known.join(", ");
            Err(format!("has ${other}; this text may have {known}"))
        }
    }
}

impl Language {
    /// Every text of the house in this language, by id, as it is written.
    pub fn sources(self) -> BTreeMap<&'static str, String> {
        let mut found = BTreeMap::new();
        for file in resources(self) {
            for entry in file.entries() {
                if let Entry::Message(message) = entry
                    && let Some(pattern) = &message.value
                {
                    found.insert(message.id.name, written(pattern));
                }
            }
        }
        found
    }
}

/// A pattern as a file has it, without its id.
fn written(pattern: &Pattern<&str>) -> String {
    let message = Message {
        id: fluent_syntax::ast::Identifier { name: "x" },
        value: Some(pattern.clone()),
        attributes: Vec::new(),
        comment: None,
    };
    let resource = fluent_syntax::ast::Resource {
        body: vec![Entry::Message(message)],
    };
    let whole = fluent_syntax::serializer::serialize(&resource);
    let text = whole.strip_prefix("x =").unwrap_or(&whole);
    let lines = text.trim().lines();
    let lines = lines.map(|line| line.strip_prefix("    ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(tag: &str, id: &str, text: &str) -> (String, String) {
        OwnTexts::new([(tag, id, text)]).expect_err(text)
    }

    #[test]
    fn an_own_text_stands_in_place_of_the_houses_in_its_language_alone() {
        let german = Language::of_tag("de").unwrap();
        let own = OwnTexts::new([
            ("de", "mail-recover-button", "Hier entlang"),
            (
                "de",
                "mail-recover-once",
                "Der Link geht { page-for-minutes }.\nDanach nicht.",
            ),
            ("en", "mail-code-subject", "{ $code }: for { $brand }"),
        ])
        .unwrap();
        assert_eq!(
            own.text(german, "mail-recover-button").as_deref(),
            Some("Hier entlang")
        );
        let minutes = [("minutes", Arg::Number(1))];
        let text = own.with(german, "mail-recover-once", &minutes).unwrap();
        let house = german.with("page-for-minutes", &minutes);
        assert_eq!(text, format!("Der Link geht {house}.\nDanach nicht."));
        let names = [("code", Arg::Text("12")), ("brand", Arg::Text("{ $code }"))];
        assert_eq!(
            own.with(Language::ENGLISH, "mail-code-subject", &names)
                .as_deref(),
            Some("12: for { $code }")
        );
        assert_eq!(own.text(Language::ENGLISH, "mail-recover-button"), None);
        assert_eq!(own.text(german, "mail-code-ignore"), None);
    }

    #[test]
    fn own_texts_of_a_client_come_before_those_of_its_realm() {
        let realm = [
            ("en", "mail-code-link", "a"),
            ("en", "mail-code-ignore", "b"),
        ];
        let realm = OwnTexts::new(realm).unwrap();
        let client = OwnTexts::new([("en", "mail-code-link", "c")]).unwrap();
        let both = client.over(&realm);
        let text = |id| both.text(Language::ENGLISH, id).unwrap().into_owned();
        assert_eq!(
            (text("mail-code-link"), text("mail-code-ignore")),
            ("c".into(), "b".into())
        );
    }

    #[test]
    fn a_text_that_could_not_be_shown_is_refused_with_its_place_and_the_reason() {
        for (tag, id, text, why) in [
            ("xx", "mail-code-link", "a", "there is no such language"),
            ("de", "mail-code-lin", "a", "there is no text of this id"),
            ("de", "mail-code-link", " ", "needs 1 to 2048 bytes"),
            ("de", "mail-code-link", "a\u{7}", "control character"),
            (
                "de",
                "mail-code-link",
                "{ $code",
                "is not one Fluent pattern",
            ),
            (
                "de",
                "mail-code-link",
                "a\n.title = b",
                "is not one Fluent pattern",
            ),
            (
                "de",
                "mail-code-link",
                "{ $code }",
                "this text has no variables",
            ),
            (
                "de",
                "mail-code-subject",
                "{ $user }",
                "may have $brand, $code",
            ),
            (
                "de",
                "mail-code-subject",
                "{ NUMBER($code) }",
                "variables and other texts alone",
            ),
            (
                "de",
                "mail-code-subject",
                "{ mail-code-link }",
                "sets in mail-code-link",
            ),
        ] {
            let (place, said) = said(tag, id, text);
            assert!(
                place.starts_with(tag) && said.contains(why),
                "{text}: {place}: {said}"
            );
        }
        let long = "a".repeat(MAX_OWN_TEXT_BYTES + 1);
        assert!(said("de", "mail-code-link", &long).1.contains("2048"));
        // A line that would be a text of its own is a part of this one.
        let text = "a\nmail-code-ignore = b";
        let own = OwnTexts::new([("en", "mail-code-link", text)]).unwrap();
        assert_eq!(
            own.text(Language::ENGLISH, "mail-code-link").as_deref(),
            Some(text)
        );
        assert_eq!(own.text(Language::ENGLISH, "mail-code-ignore"), None);
    }

    /// What `signet config texts` prints can be given back.
    #[test]
    fn every_text_of_the_house_can_be_an_own_one() {
        for language in LANGUAGES {
            for (id, text) in language.sources() {
                let one = OwnTexts::new([(language.tag(), id, &*text)]);
                let own = one.unwrap_or_else(|error| panic!("{id}: {text}: {error:?}"));
                let args: Vec<(&'static str, Arg<'_>)> = house(id)
                    .map(|pattern| Names::of(pattern).all_variables())
                    .unwrap_or_default()
                    .into_iter()
                    .map(|name| (name, Arg::Number(3)))
                    .collect();
                assert_eq!(
                    own.with(language, id, &args).as_deref(),
                    Some(&*language.with(id, &args)),
                    "{id}"
                );
            }
        }
    }
}
