//! The account page's part about what a person logs in with beside the password, and the pages
//! behind it.

use maud::{Markup, html};
use qrcodegen::{QrCode, QrCodeEcc};
use signet_oauth::params::encode_into;

use crate::login::passkey;
use crate::parts::button::{copied, copy_button};
use crate::parts::face::{Face, Part, plain};
use crate::parts::icon::Icon;
use crate::parts::layout::{Frame, Html, Menu, Notice, notice};
use crate::parts::row::{Danger, Row, danger};
use crate::parts::script::COPY;

/// What a person sees of their factors.
#[derive(Debug, Clone, Default)]
pub struct FactorsView {
    /// Apps, passkeys and remembered browsers.
    pub credentials: Vec<CredentialView>,
    /// Recovery codes that are left; none where none were made.
    pub recovery_codes: Option<usize>,
    /// Another app may be added.
    pub can_add_totp: bool,
    /// There is a second factor, which recovery codes can stand in for.
    pub can_make_codes: bool,
}

/// What a credential is, to its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialSort {
    /// An app that makes codes.
    App,
    /// A passkey or a security key.
    Passkey,
    /// A browser that is not asked for a second factor.
    Browser,
}

/// One of them. Times are Unix seconds.
#[derive(Debug, Clone)]
pub struct CredentialView {
    /// What it is.
    pub sort: CredentialSort,
    /// Names its kind in the form.
    pub kind: &'static str,
    /// Names it among its kind.
    pub id: String,
    /// What its person calls it.
    pub label: String,
    /// When it was added.
    pub created_at: u64,
    /// When it was last used.
    pub used_at: Option<u64>,
    /// When it ends by itself.
    pub expires_at: Option<u64>,
    /// What else is said of it: the id of a text.
    pub note: Option<&'static str>,
    /// Its person may call it something else.
    pub can_rename: bool,
}

impl CredentialSort {
    fn title(self) -> &'static str {
        match self {
            CredentialSort::App => "factors-app",
            CredentialSort::Passkey => "factors-passkey",
            CredentialSort::Browser => "factors-browser",
        }
    }
}

impl CredentialSort {
    fn icon(self) -> Icon {
        match self {
            CredentialSort::App => Icon::Phone,
            CredentialSort::Passkey => Icon::Key,
            CredentialSort::Browser => Icon::Computer,
        }
    }
}

/// The rows of a sort. `id`: what stands before theirs.
fn rows(t: &Face, view: &FactorsView, sort: CredentialSort, id: &str, hidden: &Markup) -> Markup {
    let shown = view.credentials.iter().filter(|one| one.sort == sort);
    html! {
        @for (index, one) in shown.enumerate() {
            @let name = match one.label.is_empty() { true => t.text(one.sort.title()), false => one.label.as_str().into() };
            @let row = Row {
                mark: Some(one.sort.icon().show()),
                name: Some(html! { bdi { (name) } }),
                state: Some(facts(t, one)),
            };
            (row.with(&html! {
                @if one.can_rename { (rename(t, one, &name, &format!("rename-{id}-{index}"), hidden)) }
                (remove(t, one, &name, &format!("remove-{id}-{index}"), hidden))
            }))
        }
    }
}

fn facts(t: &Face, one: &CredentialView) -> Markup {
    html! {
        @if !one.label.is_empty() { (t.text(one.sort.title())) " · " }
        (t.html("factors-since", &[("since", Part::Html(t.time(one.created_at)))]))
        @if let Some(used) = one.used_at {
            " · " (t.html("factors-used", &[("used", t.ago(used).into())]))
        }
        @if let Some(note) = one.note { " · " (t.text(note)) }
        @if let Some(end) = one.expires_at {
            " · " (t.html("factors-until", &[("until", Part::Html(t.time(end)))]))
        }
    }
}

fn fields(one: &CredentialView, hidden: &Markup) -> Markup {
    html! {
        (hidden)
        input type="hidden" name="kind" value=(one.kind);
        input type="hidden" name="id" value=(one.id);
    }
}

fn remove(t: &Face, one: &CredentialView, name: &str, id: &str, hidden: &Markup) -> Markup {
    let since = t.time_text(one.created_at);
    let args = [("name", name.into()), ("since", (&since).into())];
    let parts = [
        ("name", plain(name)),
        ("since", t.time(one.created_at).into()),
    ];
    let heading = t.html("factors-remove-one", &parts);
    danger(
        t,
        &Danger {
            id,
            act: &t.text("factors-remove"),
            title: &t.with("factors-remove-one", &args),
            heading: Some(heading),
            text: (one.sort != CredentialSort::Browser)
                .then(|| html! { (t.text("factors-remove-text")) }),
            decision: "credential-remove",
            fields: &fields(one, hidden),
        },
    )
}

/// Another name for one of them, in a dialog.
fn rename(t: &Face, one: &CredentialView, name: &str, id: &str, hidden: &Markup) -> Markup {
    // Ids of credentials are letters, digits, `-` and `_`.
    let field = format!("label-{}-{}", one.kind, one.id);
    let (title, label) = (
        format!("{id}-title"),
        t.with("factors-rename-one", &[("name", name.into())]),
    );
    html! {
        button .narrow type="button" popovertarget=(id) aria-label=(label) { (t.text("factors-rename")) }
        div #(id) .dialog popover role="dialog" aria-labelledby=(title) {
            h3 #(title) { (label) }
            form .inline method="post" action="account" {
                (fields(one, hidden))
                label for=(field) { (t.text("factors-name")) }
                input id=(field) name="label" type="text" value=(one.label) maxlength="64" autocomplete="off";
                div .pair {
                    button type="button" popovertarget=(id) popovertargetaction="hide" { (t.text("page-cancel")) }
                    button .main type="submit" name="decision" value="credential-rename" { (t.text("account-save")) }
                }
            }
        }
    }
}

impl FactorsView {
    fn has(&self, sort: CredentialSort) -> bool {
        self.credentials.iter().any(|one| one.sort == sort)
    }
}

/// All passkeys, whatever they count for, and the form that adds one. `options`: what a browser is
/// asked for; none: they are not offered.
pub(crate) fn passkeys(
    t: &Face,
    view: Option<&FactorsView>,
    options: Option<&str>,
    hidden: &Markup,
) -> Markup {
    let view = view.filter(|view| view.has(CredentialSort::Passkey));
    html! {
        @if view.is_some() || options.is_some() {
            h2 #passkeys { (t.text("passkey-heading")) }
            ul .rows aria-labelledby="passkeys" {
                @if let Some(view) = view { (rows(t, view, CredentialSort::Passkey, "passkey", hidden)) }
                @if let Some(options) = options {
                    @let row = Row {
                        mark: view.is_none().then(|| Icon::Key.show()),
                        name: Some(html! { (t.text("passkey-add")) }),
                        state: Some(html! { (t.text("passkey-about")) }),
                    };
                    (row.form("add-passkey", &t.text("factors-add-submit"), false, &passkey::add_form(t, options, hidden)))
                }
            }
        }
    }
}

/// The second factor. `hidden`: the field that every form carries.
pub(crate) fn factors(t: &Face, view: &FactorsView, hidden: &Markup) -> Markup {
    let alone = !view.has(CredentialSort::App) && !view.has(CredentialSort::Passkey);
    html! {
        h2 #factors { (t.text("factors-title")) }
        ul .rows aria-labelledby="factors" {
            (rows(t, view, CredentialSort::App, "app", hidden))
            @if view.can_add_totp {
                @let row = Row {
                    mark: alone.then(|| Icon::Shield.show()),
                    name: Some(html! { (t.text("factors-add-button")) }),
                    state: alone.then(|| html! { (t.text("factors-none")) }),
                };
                (row.with(&html! {
                    form .inline method="post" action="account" {
                        (hidden)
                        button .narrow type="submit" name="decision" value="totp-add" aria-label=(t.text("factors-add-button")) { (t.text("factors-add-submit")) }
                    }
                }))
            }
            @if view.can_make_codes { (recovery(t, view, hidden)) }
        }
    }
}

fn recovery(t: &Face, view: &FactorsView, hidden: &Markup) -> Markup {
    let row = Row {
        name: Some(html! { (t.text("factors-codes-title")) }),
        state: Some(html! {
            @match view.recovery_codes {
                None => { (t.text("factors-codes-none")) }
                Some(left) => { (t.with("factors-codes-left", &[("count", (left as u64).into())])) }
            }
        }),
        ..Row::default()
    };
    row.with(&html! {
        form .inline method="post" action="account" {
            (hidden)
            button .narrow type="submit" name="decision" value="recovery-codes" { (t.text("factors-codes-make")) }
        }
    })
}

/// Browsers that are not asked for a second factor.
pub(crate) fn browsers(t: &Face, view: &FactorsView, hidden: &Markup) -> Markup {
    html! {
        @if view.has(CredentialSort::Browser) {
            h2 #browsers { (t.text("factors-browsers")) }
            p .soft { (t.text("factors-browsers-about")) }
            ul .rows aria-labelledby="browsers" { (rows(t, view, CredentialSort::Browser, "browser", hidden)) }
        }
    }
}

/// What the page shows that adds an app.
#[derive(Debug, Default)]
pub struct TotpAddPage<'a> {
    /// Where the form goes.
    pub action: &'a str,
    /// The sealed state, which has the secret in it.
    pub interaction: &'a str,
    /// The secret, as apps take it.
    pub secret: &'a str,
    /// The same as a URI that apps read (`otpauth`).
    pub uri: &'a str,
    /// What was typed as the app's name.
    pub label: &'a str,
    /// Why the account needs it, where somebody else says so.
    pub required: bool,
    /// What went wrong.
    pub notice: Option<Notice>,
}

/// The secret, as text and as a picture, and the field for the first code.
pub fn totp_add(t: &Face, page: &TotpAddPage<'_>) -> Html {
    let problem = matches!(page.notice, Some(Notice::Error(_))).then_some("problem");
    Frame {
        // Behind the account page a change of the language would lead back to it.
        menu: match page.required {
            true => Menu::Interaction(page.interaction),
            false => Menu::None,
        },
        files: vec![&COPY],
        ..Frame::new(t, t.text("factors-add-title"))
    }
    .render(html! {
        h1 { (t.text("factors-add-title")) }
        @if page.required {
            p .notice role="status" { (t.text("factors-add-required")) }
        }
        p .soft { (t.text("factors-add-about")) }
        (notice(t, page.notice.as_ref()))
        (qr(t, page.uri))
        details .cannot {
            summary { (t.text("factors-add-cannot")) }
            p .small {
                (t.html("factors-add-secret", &[("secret", Part::Html(html! { code #totp-secret { (page.secret) } }))]))
            }
            div .tools {
                (copy_button(t, "totp-secret"))
                a .button .narrow href=(page.uri) { (t.text("factors-add-open")) }
            }
            (copied(t))
        }
        form method="post" action=(page.action) {
            input type="hidden" name="interaction" value=(page.interaction);
            label for="totp" { (t.text("factors-totp-label")) }
            input #totp .code name="totp" type="text" required maxlength="12" inputmode="numeric" pattern="[0-9 ]*"
                autocomplete="one-time-code" autofocus aria-invalid=[problem.map(|_| "true")] aria-describedby=[problem];
            label for="label" { (t.text("factors-add-name")) }
            input #label name="label" type="text" value=(page.label) maxlength="64" autocomplete="off";
            button .main type="submit" name="decision" value="totp-add" { (t.text("factors-add-submit")) }
            button .text type="submit" name="decision" value="cancel" formnovalidate { (t.text("page-cancel")) }
        }
    })
}

/// A QR code in the page itself. Dark on light in both schemes: cameras want it so.
fn qr(t: &Face, text: &str) -> Markup {
    const QUIET: i32 = 4;
    let Ok(code) = QrCode::encode_text(text, QrCodeEcc::Medium) else {
        return html! {};
    };
    let mut path = String::new();
    for y in 0..code.size() {
        for x in 0..code.size() {
            if code.get_module(x, y) {
                path.push_str(&format!("M{},{}h1v1h-1z", x + QUIET, y + QUIET));
            }
        }
    }
    let side = code.size() + 2 * QUIET;
    html! {
        svg #totp-qr .qr viewBox=(format!("0 0 {side} {side}")) width="200" height="200" shape-rendering="crispEdges"
            role="img" aria-label=(t.text("factors-add-qr")) {
            rect width="100%" height="100%" fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    }
}

/// New recovery codes: shown here and never again. `back`: where the page leads.
pub fn recovery_codes(t: &Face, codes: &[String], back: &str) -> Html {
    Frame {
        files: vec![&COPY],
        ..Frame::own(t, t.text("factors-codes-title"))
    }
    .render(html! {
        h1 { (t.text("factors-codes-title")) }
        p .soft { (t.text("factors-codes-about")) }
        ul #recovery-codes { @for code in codes { li { code { (code) } } } }
        div .tools {
            // What needs a script is shown by it.
            (copy_button(t, "recovery-codes"))
            a #codes-download .button .narrow download="recovery-codes.txt" href=(as_file(t, codes)) { (t.text("factors-codes-download")) }
            button #codes-print .narrow type="button" hidden { (t.text("factors-codes-print")) }
        }
        (copied(t))
        form .tools .saved method="get" action=(back) {
            div .check {
                // Without a name: it is asked for, and not sent.
                input #codes-saved type="checkbox" required;
                label for="codes-saved" { (t.text("factors-codes-kept")) }
            }
            button .main type="submit" { (t.text("page-continue")) }
        }
    })
}

/// The codes as a file that is saved without asking the server again, which does not know them any
/// more.
fn as_file(t: &Face, codes: &[String]) -> String {
    let title = t.text("factors-codes-title");
    let text = format!(
        "{title}: {}\r\n\r\n{}\r\n",
        t.brand.name(),
        codes.join("\r\n")
    );
    let mut url = String::new();
    encode_into(&text, &mut url);
    // A plus is no space in such a URL.
    format!("data:text/plain;charset=utf-8,{}", url.replace('+', "%20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_keep_the_contract_of_names() {
        let html = factors(
            &Face::default(),
            &FactorsView {
                can_add_totp: true,
                can_make_codes: true,
                ..FactorsView::default()
            },
            &html! {},
        );
        for decision in ["totp-add", "recovery-codes"] {
            let button = format!("name=\"decision\" value=\"{decision}\"");
            assert!(html.0.contains(&button), "{decision}");
        }
        let add = totp_add(
            &Face::default(),
            &TotpAddPage {
                secret: "GEZDGNBVGY3TQOJQ",
                uri: "otpauth://totp/Signet:alice?secret=GEZDGNBVGY3TQOJQ",
                ..TotpAddPage::default()
            },
        );
        assert!(
            add.body
                .contains("<code id=\"totp-secret\">GEZDGNBVGY3TQOJQ</code>")
        );
        assert!(add.body.contains("name=\"totp\""));
        assert!(add.body.contains("id=\"totp-qr\""));
        assert!(!add.body.contains("style="));
        assert_eq!(add.body.matches(">GEZDGNBVGY3TQOJQ<").count(), 1);
        assert_eq!(add.body.matches("GEZD GNBV").count(), 0);
        let codes = recovery_codes(&Face::default(), &["aaaa-bbbb".to_owned()], "account");
        assert!(codes.body.contains("<ul id=\"recovery-codes\">"));
        assert!(codes.body.contains("<li><code>aaaa-bbbb</code>"));
    }

    #[test]
    fn recovery_codes_are_copied_printed_and_saved_and_the_end_is_a_button() {
        let codes = ["aaaa-bbbb".to_owned(), "cc+c&\"dd".to_owned()];
        let html = recovery_codes(&Face::default(), &codes, "account");
        for id in ["data-copy=\"recovery-codes\"", "id=\"codes-print\""] {
            let at = html.body.find(id).expect(id);
            let button = html.body[..at].rfind('<').expect("a tag");
            let button = html.body[button..].split('>').next().expect("its end");
            assert!(button.contains("hidden"), "a script shows it: {button}");
        }
        // The link needs no script, and leaves nothing of a code as it is in an attribute.
        let href = &html.body[html.body.find("href=\"data:").expect("a file") + 6..];
        let href = &href[..href.find('"').expect("its end")];
        assert!(href.contains("aaaa-bbbb%0D%0Acc%2Bc%26%22dd"), "{href}");
        assert!(html.headers()[0].1.contains("script-src 'self'"));
        let end = "<form class=\"tools saved\" method=\"get\" action=\"account\">";
        let (_, end) = html.body.split_once(end).expect("the end");
        // Nothing of it is sent, and without it the browser does not go on.
        let check = end.split('>').nth(1).expect("the check");
        assert!(
            check.contains("required") && !check.contains("name="),
            "{check}"
        );
        assert!(
            end.contains("<button class=\"main\" type=\"submit\">"),
            "{end}"
        );
    }

    #[test]
    fn passkeys_stand_under_their_heading_and_codes_are_made_where_they_stand_in_for_something() {
        let one = |sort, id: &str| CredentialView {
            sort,
            kind: "passkey",
            id: id.to_owned(),
            label: id.to_owned(),
            created_at: 0,
            used_at: None,
            expires_at: None,
            note: None,
            can_rename: true,
        };
        let t = Face::default();
        let view = FactorsView {
            credentials: vec![one(CredentialSort::Passkey, "the-key")],
            can_make_codes: true,
            ..FactorsView::default()
        };
        // Also where no more are offered.
        for options in [Some("{}"), None] {
            let part = passkeys(&t, Some(&view), options, &html! {}).0;
            let heading = part.find("id=\"passkeys\"").expect("a heading");
            assert!(heading < part.find("the-key").expect("a row"), "{part}");
        }
        let rest = factors(&t, &view, &html! {}).0;
        assert!(!rest.contains("the-key"), "{rest}");
        assert!(!rest.contains("Only your password"), "{rest}");
        assert!(rest.contains("value=\"recovery-codes\""), "{rest}");
        let bare = factors(&t, &FactorsView::default(), &html! {}).0;
        assert!(!bare.contains("recovery"), "{bare}");
        let none = passkeys(&t, Some(&FactorsView::default()), None, &html! {}).0;
        assert!(none.is_empty(), "{none}");
    }

    #[test]
    fn what_a_person_typed_stays_text() {
        let hostile = "\"><img src=x onerror=alert(1)>";
        let view = FactorsView {
            credentials: vec![CredentialView {
                sort: CredentialSort::App,
                kind: "totp",
                id: hostile.to_owned(),
                label: hostile.to_owned(),
                created_at: 0,
                used_at: None,
                expires_at: None,
                note: None,
                can_rename: true,
            }],
            ..FactorsView::default()
        };
        assert!(
            !factors(&Face::default(), &view, &html! {})
                .0
                .contains("<img")
        );
        let add = totp_add(
            &Face::default(),
            &TotpAddPage {
                label: hostile,
                ..TotpAddPage::default()
            },
        );
        assert!(!add.body.contains("<img"));
    }
}
