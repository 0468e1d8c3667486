//! The person's own page: password, sessions, and what clients may do in their name.

pub(crate) mod agents;
pub(crate) mod deletion;
pub(crate) mod factors;
pub(crate) mod profile;

use maud::{Markup, html};

use crate::account::agents::{AgentsView, agents};
use crate::account::factors::{FactorsView, factors, passkeys};
use crate::account::profile::{AttributeView, ProfileView, attributes, profile};
use crate::login::providers::{ProviderLinks, account_links};
use crate::parts::face::{Face, Part, plain, strong};
use crate::parts::layout::{Forms, Frame, Html, Menu, Notice, notice};
use crate::parts::password_field::{self, NewPassword, PasswordField};
use crate::parts::script::{MOMENT, PASSKEY, PASSWORD};

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

/// A session as its owner sees it.
#[derive(Debug, Clone, Default)]
pub struct SessionView {
    /// The public session id.
    pub sid: String,
    /// The browser, from its `User-Agent`.
    pub browser: String,
    /// The address that logged in.
    pub address: String,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds, to within a minute or so.
    pub last_seen: u64,
    /// The one that is looking.
    pub current: bool,
}

/// A consent as its giver sees it.
#[derive(Debug, Clone, Default)]
pub struct ConsentView {
    /// The client.
    pub client_id: String,
    /// Its name, or its id.
    pub client_name: String,
    /// What was allowed, in words.
    pub scopes: Vec<String>,
    /// Unix seconds.
    pub granted_at: u64,
}

/// The part of the page that a notice is about: after a form of it, that part alone is shown.
fn part_of(notice: Option<&Notice>) -> Option<&'static str> {
    const PARTS: [(&str, &str); 12] = [
        ("account-password", "security"),
        ("login-password", "security"),
        ("password-", "security"),
        ("factors-", "security"),
        ("passkey-", "security"),
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
    let shown = part_of(view.notice.as_ref());
    let is = |part: &str| shown == Some(part);
    // What the form of the password was refused for: at which of its fields.
    let refused = match &view.notice {
        Some(Notice::Error(text)) if is("security") => Some(*text),
        Some(Notice::Error(_) | Notice::Done(_)) | None => None,
    };
    let wrong = refused == Some("account-password-wrong");
    let unfit = refused.is_some_and(|text| text.contains("password-")) && !wrong;
    Frame {
        wide: true,
        menu: Menu::Account,
        files: view.passkey.map(|_| &*PASSKEY).into_iter().chain([&*PASSWORD, &*MOMENT]).collect(),
        // A link leads to the provider, and so may the end of a session derived from one.
        forms: match view.providers.others.is_empty() && view.providers.links.is_empty() {
            true => Forms::Own,
            false => Forms::Client,
        },
        ..Frame::own(t, t.text("account-title"))
    }
    .render(html! {
        h1 { (t.text("account-title")) }
        p .soft {
            bdi { (view.display_name) }
            @if view.display_name != view.username { " · " bdi { (view.username) } }
            @if let Some(email) = view.email { " · " bdi { (email) } }
        }
        (notice(t, view.notice.as_ref()))

        (parts(t, view, shown))

        section #profile .shown[is("profile")] {
            (profile(t, &view.profile, (view.username, view.email), &hidden))
            (attributes(t, view.attributes, &hidden))
        }
        section #security .shown[is("security")] {
        (passkeys(t, view.factors, view.passkey, &hidden))
        @if let Some(view) = view.factors { (factors(t, view, &hidden)) }
        @if view.own_password {
            h2 { (t.text(if view.has_password { "account-password-change" } else { "account-password-set" })) }
            form method="post" action="account" {
                (hidden)
                input type="text" name="username" value=(view.username) autocomplete="username" hidden;
                @if view.has_password {
                    label for="password" { (t.text("account-password-current")) }
                    (password_field::current(t, &PasswordField {
                        autofocus: wrong,
                        problem: wrong.then_some("problem"),
                    }))
                }
                (password_field::new(t, &NewPassword {
                    shortest: view.shortest_password,
                    autofocus: unfit,
                    logins: &[view.username, view.email.unwrap_or("")],
                    name: view.display_name,
                }))
                button .main type="submit" name="decision" value="password" { (t.text("account-password-save")) }
                p .small .soft .after { (t.text("account-password-ends")) }
            }
        } @else {
            h2 { (t.text("account-password")) }
            p .soft {
                (t.text("account-password-elsewhere"))
            }
        }
        }

        section #devices .shown[is("devices")] {
        h2 #sessions { (t.text("account-sessions")) }
        ul .plain aria-labelledby="sessions" {
            @for session in view.sessions {
                li {
                    div .row {
                        div {
                            strong { bdi { (session.browser) } } @if session.current { " " span .soft { (t.text("account-session-current")) } }
                            br;
                            span .small .soft {
                                (t.html("account-session-facts", &[
                                    ("address", plain(&session.address)),
                                    ("since", Part::Html(t.time(session.created_at))),
                                    ("seen", Part::Html(t.time(session.last_seen))),
                                ]))
                            }
                        }
                        form .inline method="post" action="account" {
                            (hidden)
                            input type="hidden" name="sid" value=(session.sid);
                            // Many buttons of one name: a screen reader says which.
                            button .narrow type="submit" name="decision" value="end-session"
                                aria-label=(end_label(t, session)) {
                                @if session.current { (t.text("account-session-log-out")) } @else { (t.text("account-session-end")) }
                            }
                        }
                    }
                }
            }
        }
        @if view.sessions.len() > 1 {
            form method="post" action="account" {
                (hidden)
                button type="submit" name="decision" value="end-others" { (t.text("account-sessions-end-others")) }
            }
        }

        }

        section #applications .shown[is("applications")] {
        h2 #consents { (t.text("account-applications")) }
        @if view.consents.is_empty() {
            p .soft { (t.text("account-applications-none")) }
        } @else {
            ul .plain aria-labelledby="consents" {
                @for consent in view.consents {
                    li {
                        div .row {
                            div {
                                strong { bdi { (consent.client_name) } }
                                br;
                                span .small .soft {
                                    (t.html("account-application-since", &[
                                        ("scopes", plain(&consent.scopes.join(" · "))),
                                        ("since", Part::Html(t.time(consent.granted_at))),
                                    ]))
                                }
                            }
                            form .inline method="post" action="account" {
                                (hidden)
                                input type="hidden" name="client_id" value=(consent.client_id);
                                button .narrow type="submit" name="decision" value="withdraw" aria-label=(t.with("account-withdraw-one", &[("client", (&consent.client_name).into())])) { (t.text("account-withdraw")) }
                            }
                        }
                    }
                }
            }
        }

        }

        (account_links(t, view.interaction, &view.providers))

        section #data .shown[is("data")] {
            h2 { (t.text("account-data")) }
            p .soft { (t.text("account-data-text")) }
            form method="post" action="account" {
                (hidden)
                button type="submit" name="decision" value="export" { (t.text("account-data-export")) }
            }
            @if let Some(days) = view.deletable {
                details .danger {
                    summary { (t.text("account-delete")) }
                    p .soft { (t.with("account-delete-text", &[("days", days.into())])) }
                    form method="post" action="account" {
                        (hidden)
                        div .check {
                            input #delete-confirmed type="checkbox" name="confirmed" value="yes" required;
                            label for="delete-confirmed" { (t.text("account-delete-sure")) }
                        }
                        button .bad type="submit" name="decision" value="delete-account" { (t.text("account-delete")) }
                    }
                }
            }
        }

        @if let Some(view) = view.agents { section #advanced .shown[is("advanced")] { (agents(t, view, &hidden)) } }

    })
}

/// Ways to the parts of the page, which show one part alone without a script (`:target`). The style
/// marks the one that is shown. `shown`: the part that a form of it was just answered in.
fn parts(t: &Face, view: &AccountView<'_>, shown: Option<&str>) -> Markup {
    let parts = [
        (true, "#profile", "account-about"),
        (true, "#security", "account-security"),
        (true, "#devices", "account-sessions"),
        (true, "#applications", "account-applications"),
        (true, "#data", "account-data"),
        (view.agents.is_some(), "#advanced", "account-advanced"),
    ];
    html! {
        nav .tabs aria-label=(t.text("account-sections")) {
            @for (_, target, text) in parts.into_iter().filter(|(is_there, _, _)| *is_there) {
                a href=(target) aria-current=[(shown == target.strip_prefix('#')).then_some("true")] { (t.text(text)) }
            }
            a href="#main" { (t.text("account-all")) }
        }
    }
}

/// Many buttons of one name: a screen reader says which.
fn end_label(t: &Face, session: &SessionView) -> String {
    let id = match session.current {
        true => "account-session-log-out-one",
        false => "account-session-end-one",
    };
    let since = t.time_text(session.created_at);
    let args = [
        ("browser", (&session.browser).into()),
        ("since", (&since).into()),
    ];
    t.with(id, &args)
}

/// `/account/recover`: asks whose password was forgotten. `back`: as for [`recover_sent`].
pub fn recover(
    t: &Face,
    interaction: &str,
    typed: &str,
    problem: Option<Notice>,
    back: Option<&str>,
) -> Html {
    Frame {
        menu: Menu::Interaction(interaction),
        ..Frame::own(t, t.text("account-recover-title"))
    }
    .render(html! {
        h1 { (t.text("account-recover-heading")) }
        p .soft { (t.text("account-recover-text")) }
        (notice(t, problem.as_ref()))
        form method="post" action={ (t.base) "/account/recover" } {
            input type="hidden" name="interaction" value=(interaction);
            label for="username" { (t.text("login-username")) }
            input #username name="username" type="text" value=(typed) required maxlength="254" autofocus
                autocomplete="username" autocapitalize="none" autocorrect="off" spellcheck="false";
            button .main type="submit" name="decision" value="email" { (t.text("account-recover-send")) }
        }
        (back_to_login(t, back))
    })
}

/// To the login that continues from here, where there is one, or to the person's own.
fn back_to_login(t: &Face, back: Option<&str>) -> Markup {
    html! {
        @if let Some(interaction) = back {
            form method="post" action={ (t.base) "/interaction" } {
                input type="hidden" name="interaction" value=(interaction);
                button type="submit" name="decision" value="allow" { (t.text("account-recover-back")) }
            }
        } @else {
            p { a .alone href={ (t.base) "/account" } { (t.text("account-recover-back")) } }
        }
    }
}

/// The same answer for every name. `back`: the sealed interaction of a login that continues from
/// here, where there is one.
pub fn recover_sent(t: &Face, minutes: u64, back: Option<&str>) -> Html {
    Frame::own(t, t.text("account-recover-sent-heading")).render(html! {
        h1 { (t.text("account-recover-sent-heading")) }
        p .soft {
            (t.with("account-recover-sent", &[("minutes", minutes.into())]))
            " " (t.text("login-code-spam"))
        }
        (back_to_login(t, back))
    })
}

/// The page behind the link.
pub fn reset(
    t: &Face,
    token: &str,
    username: &str,
    shortest: usize,
    problem: Option<Notice>,
) -> Html {
    Frame {
        password: true,
        files: vec![&PASSWORD],
        menu: Menu::Link("account/recover", token),
        ..Frame::own(t, t.text("account-reset-title"))
    }
    .render(html! {
        h1 { (t.text("account-reset-title")) }
        p .soft { (t.html("account-reset-text", &[("name", strong(username))])) }
        (notice(t, problem.as_ref()))
        form method="post" action={ (t.base) "/account/recover" } {
            input type="hidden" name="token" value=(token);
            input type="text" name="username" value=(username) autocomplete="username" hidden;
            (password_field::new(t, &NewPassword { shortest, autofocus: true, logins: &[username], name: "" }))
            button .main type="submit" name="decision" value="password" { (t.text("account-password-save")) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(notice: Option<Notice>) -> String {
        let view = AccountView {
            has_password: true,
            own_password: true,
            notice,
            ..AccountView::default()
        };
        let html = account(&Face::default(), &view).body;
        // The style names what it marks.
        let (_, body) = html.split_once("</head>").expect("a head");
        body.to_owned()
    }

    #[test]
    fn an_answer_to_a_form_shows_its_part_and_has_the_focus_at_the_field_that_was_wrong() {
        let wrong = shown(Some(Notice::Error("account-password-wrong")));
        assert!(
            wrong.contains("id=\"security\" class=\"shown\"")
                || wrong.contains("class=\"shown\" id=\"security\""),
            "{wrong}"
        );
        let tab = wrong.find("href=\"#security\" aria-current=\"true\"");
        assert!(tab.is_some(), "{wrong}");
        let field = &wrong[wrong.find("id=\"password\"").unwrap()..];
        let field = &field[..field.find('>').unwrap()];
        assert!(field.contains("autofocus"), "{field}");
        assert!(field.contains("aria-describedby=\"problem\""), "{field}");

        let untouched = shown(None);
        assert!(!untouched.contains(" aria-current="), "{untouched}");
        assert!(!untouched.contains("class=\"shown\""), "{untouched}");
        assert!(!untouched.contains("autofocus"), "{untouched}");
    }
    #[test]
    fn the_deletion_stands_apart_and_says_in_a_sentence_when_it_is_final() {
        for (days, said) in [(1, "After 1 day the"), (14, "After 14 days the")] {
            let view = AccountView {
                deletable: Some(days),
                ..AccountView::default()
            };
            let html = account(&Face::default(), &view).body;
            let (_, part) = html
                .split_once("<details class=\"danger\">")
                .expect("apart");
            assert!(part.contains(said), "{part}");
        }
    }
}
