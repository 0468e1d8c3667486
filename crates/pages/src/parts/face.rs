//! What every page of an answer has in common: its language and its brand. Page functions take it
//! first, call it `t`, and ask it for every word they show.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use maud::{Markup, PreEscaped, Render, html};
use signet_texts::{Arg, Language};

use crate::parts::brand::Brand;

/// See the module.
#[derive(Debug, Clone)]
pub struct Face {
    /// Of the person who reads.
    pub language: Language,
    /// Of the client that the page is for, or of the realm.
    pub brand: Arc<Brand>,
    /// The path of the issuer, without a slash at its end: where its pages are.
    pub base: String,
    /// The issuer's host, as the address bar says it; empty: it is not known.
    pub host: String,
    /// Of an answer to a form: where the page, or what comes next, can be loaded again, below the
    /// server's address.
    pub again: Option<String>,
}

/// In English, with the house's own brand.
impl Default for Face {
    fn default() -> Self {
        static OWN: LazyLock<Arc<Brand>> = LazyLock::new(Arc::default);
        Face::of(Language::ENGLISH, OWN.clone(), "")
    }
}

/// What stands for a variable of a text that is HTML.
#[derive(Debug)]
pub enum Part {
    /// Counts: the language's plural follows it.
    Number(u64),
    /// Set into the text as it is.
    Html(Markup),
}

impl From<u64> for Part {
    fn from(number: u64) -> Self {
        Part::Number(number)
    }
}

impl From<Markup> for Part {
    fn from(markup: Markup) -> Self {
        Part::Html(markup)
    }
}

/// Somebody's own word (a name, a host), set apart from the sentence: strong, and with its own
/// direction.
pub(crate) fn strong(text: &str) -> Part {
    Part::Html(html! { strong { bdi { (text) } } })
}

/// As [`strong`], in the sentence's own weight.
pub(crate) fn plain(text: &str) -> Part {
    Part::Html(html! { bdi { (text) } })
}

/// Stand around the number of a part: Unicode noncharacters, which no text has.
const OPEN: char = '\u{FDD0}';
const CLOSE: char = '\u{FDD1}';

impl Face {
    /// In a language, with a brand. `base`: see [`Face::base`].
    pub fn of(language: Language, brand: Arc<Brand>, base: &str) -> Face {
        Face {
            language,
            brand,
            base: base.to_owned(),
            host: String::new(),
            again: None,
        }
    }

    /// A text without variables.
    pub fn text(&self, id: &'static str) -> Cow<'static, str> {
        let own = self.brand.texts.text(self.language, id);
        match own {
            // It is the brand's, which does not outlive the answer.
            Some(own) => Cow::Owned(own.into_owned()),
            None => self.language.text(id),
        }
    }

    /// A text with variables, for an attribute or a title.
    pub fn with(&self, id: &str, args: &[(&'static str, Arg<'_>)]) -> String {
        let own = self.brand.texts.with(self.language, id, args);
        own.unwrap_or_else(|| self.language.with(id, args))
    }

    /// A text with variables that are HTML. The text itself is escaped, and no variable passes
    /// through Fluent: what a person typed cannot become part of the message.
    pub fn html(&self, id: &str, parts: &[(&'static str, Part)]) -> Markup {
        let marks: Vec<String> = (0..parts.len())
            .map(|index| format!("{OPEN}{index}{CLOSE}"))
            .collect();
        let args: Vec<(&'static str, Arg<'_>)> = parts
            .iter()
            .zip(&marks)
            .map(|((name, part), mark)| match part {
                Part::Number(number) => (*name, Arg::Number(*number)),
                Part::Html(_) => (*name, Arg::Text(mark)),
            })
            .collect();
        let text = self.with(id, &args);
        let mut out = String::with_capacity(text.len() + 64);
        let mut pieces = text.split(OPEN);
        pieces.next().unwrap_or_default().render_to(&mut out);
        for piece in pieces {
            let (index, rest) = piece.split_once(CLOSE).unwrap_or(("", piece));
            let part = index.parse().ok().and_then(|at: usize| parts.get(at));
            if let Some((_, Part::Html(markup))) = part {
                markup.render_to(&mut out);
            }
            rest.render_to(&mut out);
        }
        PreEscaped(out)
    }

    /// A day and time that need no script, as `<time>`. `seconds`: Unix time.
    pub fn time(&self, seconds: u64) -> Markup {
        let text = crate::parts::moment::text(self.language, seconds);
        html! { time datetime=(crate::parts::moment::iso(seconds)) { (text) } }
    }

    /// As [`Face::time`]; the script says how long ago it was.
    pub fn ago(&self, seconds: u64) -> Markup {
        let text = crate::parts::moment::text(self.language, seconds);
        html! { time .ago datetime=(crate::parts::moment::iso(seconds)) { (text) } }
    }

    /// The same as text alone, for an attribute.
    pub fn time_text(&self, seconds: u64) -> String {
        crate::parts::moment::text(self.language, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_into_a_text_is_escaped_by_whoever_made_it_and_read_by_nobody() {
        let t = Face::default();
        let hostile = "<b>{ $client } \u{FDD0}0\u{FDD1}";
        let html = t.html("login-for-client", &[("client", strong(hostile))]);
        let html = html.into_string();
        assert_eq!(html.matches("<strong>").count(), 1, "{html}");
        assert!(html.contains("&lt;b&gt;{ $client }"), "{html}");
    }
}
