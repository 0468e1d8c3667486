//! The person's own page: who they are, what they log in with, where they are logged in, and what
//! clients may do in their name.
//!
//! Its parts stand beside each other behind tabs, which need no script (`:target`). A part is rows:
//! what something is, how it stands, and one thing that can be done; a form opens behind its row.

pub(crate) mod agents;
pub(crate) mod applications;
pub(crate) mod deletion;
pub(crate) mod factors;
pub(crate) mod password;
pub(crate) mod profile;
pub(crate) mod recover;
pub(crate) mod sessions;

use maud::{Markup, html};

use crate::account::agents::{AgentsView, agents};
use crate::account::applications::{ConsentView, applications};
use crate::account::factors::{FactorsView, browsers, factors, passkeys};
use crate::account::profile::{AttributeView, ProfileView, profile};
use crate::account::sessions::{SessionView, sessions};
use crate::login::providers::{ProviderLinks, account_links};
use crate::parts::face::Face;
use crate::parts::icon::initials;
use crate::parts::layout::{Forms, Frame, Html, Menu, Notice, notice};
use crate::parts::row::{Danger, Row, danger};
use crate::parts::script::{MOMENT, PASSKEY, PASSWORD, TABS};

/// What the account page shows.
#[derive(Debug, Default)]
pub struct AccountView<'a> {
    /// Sealed, and bound to this session: every form carries it.
    pub interaction: &'a str,
    /// The name to greet with.
    pub display_name: &'a str,
    /// The user name.
    pub username: &'a str,
    /// The e-mail address.
    pub email: Option<&'a str>,
    /// Whether there is a password to ask for before it is changed.
    pub has_password: bool,
    /// When it was set, Unix seconds; None: it is not known.
    pub password_changed_at: Option<u64>,
    /// Whether the password is kept here, and may be changed here.
    pub own_password: bool,
    /// The shortest new password, in characters.
    pub shortest_password: usize,
    /// What was done, or went wrong.
    pub notice: Option<Notice>,
    /// Sessions, newest first.
    pub sessions: &'a [SessionView],
    /// Consents, by client.
    pub consents: &'a [ConsentView],
    /// Identities and grants; none where agents are not offered.
    pub agents: Option<&'a AgentsView>,
    /// What a browser is asked for that adds a passkey; none: they are not offered.
    pub passkey: Option<&'a str>,
    /// Who the person is.
    pub profile: ProfileView<'a>,
    /// What the realm keeps of the person, as far as they may see it.
    pub attributes: &'a [AttributeView],
    /// What they log in with beside the password.
    pub factors: Option<&'a FactorsView>,
    /// Identity providers.
    pub providers: ProviderLinks<'a>,
    /// They may have the account deleted: after so many days.
    pub deletable: Option<u64>,
}

/// The part of the page that a notice is about: after a form of it, that part is shown.
fn part_of(notice: Option<&Notice>) -> Option<&'static str> {
    const PARTS: [(&str, &str); 13] = [
        ("account-password", "security"),
        ("login-", "security"),
        ("password-", "security"),
        ("factors-", "security"),
        ("passkey-", "security"),
        ("provider-", "security"),
        ("account-session", "devices"),
        ("account-withdrawn", "applications"),
        ("account-saved", "profile"),
        ("account-bad-value", "profile"),
        ("account-not-a-number", "profile"),
        ("account-delete", "data"),
        ("agents-", "advanced"),
    ];
    let (Notice::Error(text) | Notice::Done(text)) = notice?;
    let part = PARTS.iter().find(|(start, _)| text.starts_with(start));
    part.map(|(_, part)| *part)
}

/// `/account`.
pub fn account(t: &Face, view: &AccountView<'_>) -> Html {
    let hidden = html! { input type="hidden" name="interaction" value=(view.interaction); };
    let part = part_of(view.notice.as_ref());
    let shown = part.unwrap_or("profile");
    let is = |part: &str| shown == part;
    // What the form of the password was refused for: it is said in the form.
    let refused = match &view.notice {
        Some(Notice::Error(text)) if is("security") && view.own_password => {
            Some(*text).filter(|text| text.contains("password-") || text.starts_with("login-"))
        }
        Some(Notice::Error(_) | Notice::Done(_)) | None => None,
    };
    Frame {
        wide: true,
        menu: Menu::Account,
        files: view
            .passkey
            .map(|_| &*PASSKEY)
            .into_iter()
            .chain([&*PASSWORD, &*MOMENT, &*TABS])
            .collect(),
        // A link leads to the provider, and so may the end of a session derived from one.
        forms: match view.providers.others.is_empty() && view.providers.links.is_empty() {
            true => Forms::Own,
            false => Forms::Client,
        },
        ..Frame::own(t, t.text("account-title"))
    }
    .render(html! {
        (identity(t, view, &hidden))
        @if refused.is_none() { (notice(t, view.notice.as_ref())) }
        div .panes {
            (tabs(t, view, shown))
            div .parts {
                section #profile .shown[is("profile")] { (profile(t, view, &hidden)) }
                section #security .shown[is("security")] {
                    (password::password(t, view, refused, &hidden))
                    (passkeys(t, view.factors, view.passkey, &hidden))
                    @if let Some(view) = view.factors { (factors(t, view, &hidden)) }
                    (account_links(t, view.interaction, &view.providers))
                    @if let Some(view) = view.factors { (browsers(t, view, &hidden)) }
                }
                section #devices .shown[is("devices")] { (sessions(t, view.sessions, &hidden)) }
                section #applications .shown[is("applications")] { (applications(t, view.consents, &hidden)) }
                section #data .shown[is("data")] { (data(t, view, &hidden)) }
                @if let Some(view) = view.agents {
                    section #advanced .shown[is("advanced")] { (agents(t, view, is("advanced"), &hidden)) }
                }
            }
        }
    })
}

/// Whose page it is, and the way out. A picture of the person would be loaded from wherever it is.
fn identity(t: &Face, view: &AccountView<'_>, hidden: &Markup) -> Markup {
    let here = view.sessions.iter().find(|session| session.current);
    html! {
        div .who {
            span .mark .letter aria-hidden="true" { (initials(view.display_name)) }
            div .what {
                h1 { bdi { (view.display_name) } }
                p .soft {
                    @if view.display_name != view.username { bdi { (view.username) } }
                    @if let Some(email) = view.email.filter(|email| *email != view.username) { bdi { (email) } }
                }
            }
            @if let Some(here) = here {
                form .inline method="post" action="account" {
                    (hidden)
                    input type="hidden" name="sid" value=(here.sid);
                    button .narrow type="submit" name="decision" value="end-session" { (t.text("account-session-log-out")) }
                }
            }
        }
    }
}

/// Ways to the parts of the page, which show one part alone without a script. The style marks the
/// one that is shown. `shown`: the part that is shown where nothing was chosen.
fn tabs(t: &Face, view: &AccountView<'_>, shown: &str) -> Markup {
    let parts = [
        (true, "#profile", "account-about"),
        (true, "#security", "account-security"),
        (true, "#devices", "account-sessions"),
        (true, "#applications", "account-applications"),
        (true, "#data", "account-data"),
        (view.agents.is_some(), "#advanced", "agents-title"),
    ];
    html! {
        nav .tabs aria-label=(t.text("account-sections")) {
            @for (_, target, text) in parts.into_iter().filter(|(is_there, _, _)| *is_there) {
                a href=(target) aria-current=[(target.strip_prefix('#') == Some(shown)).then_some("true")] { (t.text(text)) }
            }
            a href="#main" { (t.text("account-all")) }
        }
    }
}

/// What is kept of the person, as a file, and the end of the account.
fn data(t: &Face, view: &AccountView<'_>, hidden: &Markup) -> Markup {
    html! {
        h2 { (t.text("account-data")) }
        ul .rows {
            (Row {
                name: Some(html! { (t.text("account-data-copy")) }),
                state: Some(html! { (t.text("account-data-text")) }),
                ..Row::default()
            }.with(&html! {
                form .inline method="post" action="account" {
                    (hidden)
                    button .narrow type="submit" name="decision" value="export" { (t.text("account-data-export")) }
                }
            }))
            @if let Some(days) = view.deletable { (delete(t, view, days, hidden)) }
        }
    }
}

fn delete(t: &Face, view: &AccountView<'_>, days: u64, hidden: &Markup) -> Markup {
    let title = t.with("account-delete-ask", &[("name", view.username.into())]);
    let fields = html! {
        (hidden)
        div .check {
            input #delete-confirmed type="checkbox" name="confirmed" value="yes" required;
            label for="delete-confirmed" { (t.text("account-delete-sure")) }
        }
    };
    let follows = html! { (t.with("account-delete-text", &[("days", days.into())])) };
    Row {
        name: Some(html! { (t.text("account-delete")) }),
        state: Some(follows.clone()),
        ..Row::default()
    }
    .with(&danger(
        t,
        &Danger {
            id: "delete-account",
            act: &t.text("account-delete-act"),
            title: &title,
            heading: None,
            text: Some(follows),
            decision: "delete-account",
            fields: &fields,
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(view: &AccountView<'_>) -> String {
        let html = account(&Face::default(), view).body;
        // The style names what it marks.
        let (_, body) = html.split_once("</head>").expect("a head");
        body.to_owned()
    }

    fn shown(notice: Option<Notice>) -> String {
        body(&AccountView {
            has_password: true,
            own_password: true,
            notice,
            ..AccountView::default()
        })
    }

    fn is_shown(html: &str, part: &str) -> bool {
        let section = html.split_once(&format!("id=\"{part}\"")).expect(part);
        let before = section.0.rsplit('<').next().expect("a tag");
        let after = section.1.split('>').next().expect("its end");
        format!("{before}{after}").contains("class=\"shown\"")
            && html.contains(&format!("href=\"#{part}\" aria-current=\"true\""))
    }

    #[test]
    fn an_answer_to_a_form_shows_its_part_and_has_the_focus_at_the_field_that_was_wrong() {
        let wrong = shown(Some(Notice::Error("account-password-wrong")));
        assert!(is_shown(&wrong, "security"), "{wrong}");
        assert!(!is_shown(&wrong, "profile"), "{wrong}");
        let field = &wrong[wrong.find("id=\"password\"").unwrap()..];
        let field = &field[..field.find('>').unwrap()];
        assert!(field.contains("autofocus"), "{field}");
        assert!(field.contains("aria-describedby=\"problem\""), "{field}");
        // It is said in the form, which is open.
        let form = &wrong[wrong.find("id=\"change-password\"").unwrap()..];
        assert!(form[..form.find('>').unwrap()].contains(" open"), "{form}");
        assert!(form.contains("id=\"problem\""), "{form}");
        assert_eq!(wrong.matches("id=\"problem\"").count(), 1);
    }

    #[test]
    fn one_part_is_shown_and_every_form_waits_behind_its_row() {
        let untouched = shown(None);
        assert!(is_shown(&untouched, "profile"), "{untouched}");
        assert_eq!(untouched.matches("aria-current=").count(), 1);
        assert_eq!(untouched.matches("class=\"shown\"").count(), 1);
        assert!(!untouched.contains("autofocus"), "{untouched}");
        assert!(!untouched.contains(" open>"), "{untouched}");
    }

    #[test]
    fn the_person_stands_at_the_top_with_a_way_out() {
        let sessions = [SessionView {
            sid: "s1".to_owned(),
            current: true,
            ..SessionView::default()
        }];
        let html = body(&AccountView {
            display_name: "Alice <Liddell>",
            username: "alice",
            email: Some("alice@example.com"),
            sessions: &sessions,
            ..AccountView::default()
        });
        let top = html.split("<nav").next().expect("the top");
        for part in [
            "A&lt;",
            "Alice &lt;Liddell&gt;",
            "alice@example.com",
            "value=\"end-session\"",
            "name=\"sid\" value=\"s1\"",
        ] {
            assert!(top.contains(part), "{part}: {top}");
        }
    }

    #[test]
    fn the_deletion_names_the_account_and_says_in_a_sentence_when_it_is_final() {
        for (days, said) in [(1, "After 1 day the"), (14, "After 14 days the")] {
            let html = body(&AccountView {
                username: "alice",
                deletable: Some(days),
                ..AccountView::default()
            });
            let (_, dialog) = html
                .split_once("id=\"delete-account\" ")
                .or_else(|| html.split_once("id=\"delete-account\""))
                .expect("a dialog");
            assert!(dialog.contains(said), "{dialog}");
            assert!(dialog.contains("Delete the account alice?"), "{dialog}");
            assert!(dialog.contains("name=\"confirmed\""), "{dialog}");
        }
    }
}
