//! The account page's part about sessions: where its person is logged in.

use maud::{Markup, html};

use crate::parts::face::{Face, plain};
use crate::parts::icon::Icon;
use crate::parts::row::{Danger, Row, danger};

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

impl SessionView {
    fn icon(&self) -> Icon {
        let handheld = ["Android", "iPhone", "iPad"];
        match handheld.iter().any(|one| self.browser.contains(one)) {
            true => Icon::Phone,
            false => Icon::Computer,
        }
    }

    fn row(&self, t: &Face) -> Row {
        let since = t.time(self.created_at);
        Row {
            mark: Some(self.icon().show()),
            name: Some(html! {
                bdi { (self.browser) }
                @if self.current { " " span .badge { (t.text("account-session-current")) } }
            }),
            state: Some(html! {
                @if self.current {
                    span .now { (t.text("account-session-now")) }
                } @else {
                    (t.html("account-session-seen", &[("seen", t.ago(self.last_seen).into())]))
                }
                @if !self.address.is_empty() { " · " bdi { (self.address) } }
                br;
                (t.html("account-session-since", &[("since", since.into())]))
            }),
        }
    }
}

/// The section. `hidden`: the field that every form carries.
pub(crate) fn sessions(t: &Face, sessions: &[SessionView], hidden: &Markup) -> Markup {
    html! {
        h2 #sessions { (t.text("account-sessions")) }
        ul .rows aria-labelledby="sessions" {
            @for (index, session) in sessions.iter().enumerate() {
                (session.row(t).with(&end(t, session, index, hidden)))
            }
        }
        @if sessions.len() > 1 {
            div .after {
                (danger(t, &Danger {
                    id: "end-others",
                    act: &t.text("account-sessions-end-others"),
                    title: &t.text("account-sessions-end-others"),
                    heading: None,
                    text: Some(html! { (t.text("account-session-end-text")) }),
                    decision: "end-others",
                    fields: hidden,
                }))
            }
        }
    }
}

/// Many buttons of one name: a screen reader says which.
fn end(t: &Face, session: &SessionView, index: usize, hidden: &Markup) -> Markup {
    let since = t.time_text(session.created_at);
    let args = [
        ("browser", (&session.browser).into()),
        ("since", (&since).into()),
    ];
    let title = t.with("account-session-log-out-one", &args);
    let parts = [
        ("browser", plain(&session.browser)),
        ("since", t.time(session.created_at).into()),
    ];
    let heading = t.html("account-session-log-out-one", &parts);
    let fields = html! {
        (hidden)
        input type="hidden" name="sid" value=(session.sid);
    };
    let act = t.text("account-session-log-out");
    html! {
        @if session.current {
            form .inline method="post" action="account" {
                (fields)
                button .narrow type="submit" name="decision" value="end-session" aria-label=(title) { (act) }
            }
        } @else {
            (danger(t, &Danger {
                id: &format!("end-session-{index}"),
                act: &act,
                title: &title,
                heading: Some(heading),
                text: Some(html! { (t.text("account-session-end-text")) }),
                decision: "end-session",
                fields: &fields,
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_when_it_was_active_on_what_and_is_ended_by_its_name() {
        let of = |browser: &str, current| SessionView {
            sid: "s".to_owned(),
            browser: browser.to_owned(),
            address: "192.0.2.1".to_owned(),
            created_at: 0,
            last_seen: 60,
            current,
        };
        let all = [
            of("Chrome on Linux", true),
            of("Safari on iPhone \"<b>", false),
        ];
        let html = sessions(&Face::default(), &all, &html! {}).into_string();
        assert_eq!(html.matches("Active now").count(), 1, "{html}");
        assert!(
            html.contains("<time class=\"ago\" datetime=\"1970-01-01T00:01:00Z\">"),
            "{html}"
        );
        assert!(
            html.contains("\">Log out <bdi>Safari on iPhone &quot;&lt;b&gt;</bdi>, since <time"),
            "{html}"
        );
        assert!(!html.contains("<b>"), "{html}");
        // The one that looks goes at once; another one is asked about.
        assert_eq!(html.matches("popovertarget=\"end-session-0\"").count(), 0);
        assert_eq!(html.matches("popovertarget=\"end-session-1\"").count(), 2);
    }
}
