//! The frame around every page, its style sheet, and the headers that go with it.

use http::{HeaderValue, StatusCode};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::borrow::Cow;

use signet_http::{Response, response};
use signet_texts::LANGUAGES;

use crate::parts::face::{Face, strong};
use crate::parts::icon::{self, Icon};
use crate::parts::script::{AGAIN, LANGUAGE, Script};
use crate::parts::style::csp_hash;

/// A finished page: its text and the policy that allows exactly what is in it.
#[derive(Debug)]
pub struct Html {
    /// The document.
    pub body: String,
    style_hash: String,
    /// Whether the one script of `form_post` is in it.
    script: Option<&'static str>,
    /// Whether it has scripts that are files of their own.
    has_files: bool,
    /// Origins of what is in its frames.
    frames: Vec<String>,
    forms: Forms,
}

/// Where the page's forms may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    /// To this server only.
    Own,
    /// On to the client at the end. No `form-action` then: browsers apply it to every redirect that
    /// follows a form, also those that the client makes after ours, which no list here could know.
    Client,
}

impl Html {
    /// The headers that every page carries, beside its content type.
    ///
    /// `Referrer-Policy` is `same-origin`, not `no-referrer`: with the latter browsers send
    /// `Origin: null` with our own forms.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
            self.style_hash
        );
        if let Some(script) = self.script {
            policy.push_str("; script-src 'sha256-");
            policy.push_str(&csp_hash(script.as_bytes()));
            policy.push('\'');
        }
        if self.has_files {
            // Nothing else of this server is a script, and `integrity` holds each file to its text.
            policy.push_str("; script-src 'self'");
        }
        if !self.frames.is_empty() {
            policy.push_str("; frame-src ");
            policy.push_str(&self.frames.join(" "));
        }
        if self.forms == Forms::Own {
            policy.push_str("; form-action 'self'");
        }
        vec![
            ("content-security-policy", policy),
            ("x-frame-options", "DENY".into()),
            ("x-content-type-options", "nosniff".into()),
            ("referrer-policy", "same-origin".into()),
            ("cache-control", "no-store".into()),
        ]
    }
}

impl Html {
    /// The page as an answer.
    pub fn respond(self, status: StatusCode) -> Response {
        let headers = self.headers();
        let mut response = response::html(status, self.body);
        for (name, value) in headers {
            // The values are fixed texts and hashes: always header values.
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// Something to tell the person above a form. Errors are announced by screen readers at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// What went wrong, and what to do: the id of a text.
    Error(&'static str),
    /// What was done: the id of a text.
    Done(&'static str),
}

pub(crate) fn notice(t: &Face, notice: Option<&Notice>) -> Markup {
    html! {
        @match notice {
            Some(Notice::Error(text)) => { p #problem .notice .bad role="alert" { (t.text(text)) } }
            Some(Notice::Done(text)) => { p .notice role="status" { (t.text(text)) } }
            None => {}
        }
    }
}

/// Where a change of the language leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Menu<'a> {
    /// To the account page.
    Account,
    /// To the page of this sealed interaction.
    Interaction(&'a str),
    /// To the page behind a mailed link: its path below the issuer, and its value.
    Link(&'static str, &'a str),
    /// To this sealed error.
    Error(&'a str),
    /// None is offered: the page could not be shown again.
    None,
}

/// Below the card: the realm's own pages, and the language.
fn footer(t: &Face, password: bool, menu: Menu<'_>) -> Markup {
    // No field is better than an empty one: programs that read forms look for it.
    let fields: Option<Vec<(&str, &str)>> = match menu {
        Menu::Account => Some(Vec::new()),
        Menu::Interaction(sealed) => Some(vec![("interaction", sealed)]),
        Menu::Link(path, token) => Some(vec![("at", path), ("token", token)]),
        Menu::Error(sealed) => Some(vec![("error", sealed)]),
        Menu::None => None,
    };
    html! {
        footer {
            @if password && !t.host.is_empty() {
                p .address { (t.html("page-address-hint", &[("host", strong(&t.host))])) }
            }
            @if !t.brand.links.is_empty() {
                p .links {
                    @for (text, url) in &t.brand.links {
                        a href=(url) rel="noopener noreferrer" target="_blank" { (t.text(text)) }
                    }
                }
            }
            @if let Some(fields) = fields {
                form .language method="post" action={ (t.base) "/language" } {
                    @for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
                        input type="hidden" name=(name) value=(value);
                    }
                    label for="language" { (Icon::Globe.show()) span .unseen { (t.text("page-language")) } }
                    select #language name="language" autocomplete="off" {
                        @for language in LANGUAGES {
                            option value=(language.tag()) lang=(language.tag()) selected[language == t.language] {
                                (language.name())
                            }
                        }
                    }
                    button .narrow type="submit" { (t.text("page-language-change")) }
                }
            }
        }
    }
}

/// What differs between the pages' frames.
pub(crate) struct Frame<'a> {
    pub face: &'a Face,
    pub title: Cow<'a, str>,
    /// Scripts find error and signed-out pages by it.
    pub main_id: &'static str,
    pub error_code: Option<&'a str>,
    pub wide: bool,
    pub forms: Forms,
    pub script: Option<&'static str>,
    /// A password is typed here.
    pub password: bool,
    /// Where a change of the language continues.
    pub menu: Menu<'a>,
    /// Scripts that are files of their own; not beside [`Frame::script`].
    pub files: Vec<&'static Script>,
    /// Origins of what is in its frames.
    pub frames: Vec<String>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(face: &'a Face, title: impl Into<Cow<'a, str>>) -> Self {
        Frame {
            face,
            title: title.into(),
            main_id: "main",
            error_code: None,
            wide: false,
            forms: Forms::Client,
            script: None,
            password: false,
            // A page without a form of its own has none: programs would take it for a question.
            menu: Menu::None,
            files: Vec::new(),
            frames: Vec::new(),
        }
    }

    pub(crate) fn own(face: &'a Face, title: impl Into<Cow<'a, str>>) -> Self {
        Frame {
            forms: Forms::Own,
            ..Frame::new(face, title)
        }
    }

    pub(crate) fn render(mut self, content: Markup) -> Html {
        let t = self.face;
        if self.menu != Menu::None {
            self.files.push(&LANGUAGE);
        }
        // A page with a script in it is left at once.
        let again = t.again.as_ref().filter(|_| self.script.is_none());
        let page = html! {
            (DOCTYPE)
            html lang=(t.language.tag()) dir=(t.language.dir()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    @if t.brand.favicon().is_some() { link rel="icon" href={ (t.base) "/favicon.ico" (t.brand.query) }; }
                    meta name="robots" content="noindex, nofollow";
                    title { (self.title) }
                    style { (PreEscaped(t.brand.style.as_str())) }
                    @if let Some(again) = again {
                        script src={ (t.base) "/" (AGAIN.path) } integrity={ "sha256-" (AGAIN.hash) } data-again=(again) defer {}
                    }
                    @for file in &self.files {
                        script src={ (t.base) "/" (file.path) } integrity={ "sha256-" (file.hash) } defer {}
                    }
                }
                body {
                    header .brand {
                        @if t.brand.logo().is_some() {
                            img src={ (t.base) "/brand/logo" (t.brand.query) } alt="";
                        } @else if t.brand.is_own {
                            (icon::signet())
                        }
                        span { (t.brand.name()) }
                    }
                    main id=(self.main_id) data-error=[self.error_code] class=[self.wide.then_some("wide")] {
                        (content)
                    }
                    (footer(t, self.password, self.menu))
                    @if let Some(script) = self.script {
                        script { (PreEscaped(script)) }
                    }
                }
            }
        };
        Html {
            body: page.into_string(),
            style_hash: t.brand.style_hash.clone(),
            script: self.script,
            has_files: again.is_some() || !self.files.is_empty(),
            frames: self.frames,
            forms: self.forms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_forbids_framing_and_foreign_content() {
        let html = Frame::own(&Face::default(), "Test").render(html! { p { "text" } });
        let headers = html.headers();
        let policy = &headers[0].1;
        assert!(policy.contains("default-src 'none'"));
        assert!(policy.contains("frame-ancestors 'none'"));
        assert!(policy.contains("form-action 'self'"));
        assert!(!policy.contains("unsafe-inline"));
        assert!(!policy.contains("script-src"));
        assert!(headers.contains(&("x-frame-options", "DENY".into())));
        assert!(headers.contains(&("cache-control", "no-store".into())));
    }

    #[test]
    fn a_language_is_chosen_with_a_script_at_once_and_without_one_by_its_button() {
        for (menu, field) in [
            (Menu::Account, ""),
            (
                Menu::Interaction("sealed"),
                "name=\"interaction\" value=\"sealed\"",
            ),
            (
                Menu::Link("invitation", "tok"),
                "name=\"token\" value=\"tok\"",
            ),
            (Menu::Error("sealed"), "name=\"error\" value=\"sealed\""),
        ] {
            let html = Frame {
                menu,
                ..Frame::own(&Face::default(), "Test")
            }
            .render(html! {});
            assert!(html.headers()[0].1.contains("; script-src 'self'"));
            assert!(html.body.contains(&*LANGUAGE.path), "{}", html.body);
            let form = &html.body[html.body.find("<form class=\"language\"").unwrap()..];
            assert!(form.contains(field), "{form}");
            // The script takes it away, and gives it back to who chooses by keys.
            assert!(form.contains("<button class=\"narrow\" type=\"submit\">"));
        }
        let none = Frame::own(&Face::default(), "Test").render(html! {});
        assert!(!none.body.contains("<script"), "{}", none.body);
    }

    #[test]
    fn a_page_of_a_password_says_the_host_that_the_address_bar_has_to_say() {
        let of = |password, host: &str| {
            let face = Face {
                host: host.to_owned(),
                ..Face::default()
            };
            let frame = Frame {
                password,
                ..Frame::own(&face, "Test")
            };
            frame.render(html! {}).body
        };
        let said = of(true, "id.example.com");
        assert!(said.contains("<strong><bdi>id.example.com</bdi>"), "{said}");
        assert!(!of(false, "id.example.com").contains("id.example.com"));
        assert!(!of(true, "").contains("class=\"address\""));
    }

    #[test]
    fn a_page_that_answers_a_form_says_where_it_can_be_loaded_again() {
        let face = Face {
            again: Some("/interaction?request=\"x".to_owned()),
            ..Face::default()
        };
        let html = Frame::own(&face, "Test").render(html! {});
        let said = "data-again=\"/interaction?request=&quot;x\"";
        assert!(html.body.contains(said), "{}", html.body);
        assert!(html.headers()[0].1.contains("; script-src 'self'"));
    }

    #[test]
    fn the_style_sheet_is_sent_as_it_was_hashed() {
        let html = Frame::own(&Face::default(), "Test").render(html! {});
        let start = html.body.find("<style>").unwrap() + "<style>".len();
        let end = html.body.find("</style>").unwrap();
        let hash = csp_hash(&html.body.as_bytes()[start..end]);
        assert!(html.headers()[0].1.contains(&hash));
    }

    #[test]
    fn titles_and_content_are_escaped() {
        let hostile = "</title><script>alert(1)</script>";
        let html = Frame::own(&Face::default(), hostile).render(html! { p { (hostile) } });
        assert!(!html.body.contains("<script"));
    }
}
