//! The end of a session.

use maud::html;

use super::leaving::link;
use crate::parts::face::{Face, strong};
use crate::parts::layout::{Frame, Html, Menu};
use crate::parts::script::AFTER_LOGOUT;

/// Asks before a session ends: a link from anywhere must not log a person out (OpenID RP-Initiated
/// Logout section 2).
pub fn logout_confirm(
    t: &Face,
    action: &str,
    interaction: &str,
    username: &str,
    client_name: Option<&str>,
    host: Option<&str>,
) -> Html {
    Frame {
        menu: Menu::Interaction(interaction),
        ..Frame::new(t, t.text("logout-title"))
    }
    .render(html! {
        h1 { (t.text("logout-title")) }
        p .soft {
            @if let Some(client) = client_name {
                (t.html("logout-asked-by", &[("client", strong(client))])) " "
            }
            (t.html("page-logged-in-as", &[("name", strong(username))]))
            @if let Some(host) = host { " " (t.html("logout-then", &[("host", strong(host))])) }
        }
        form method="post" action=(action) {
            input type="hidden" name="interaction" value=(interaction);
            button .main type="submit" name="decision" value="allow" { (t.text("logout-submit")) }
            button .text type="submit" name="decision" value="deny" { (t.text("logout-stay")) }
        }
    })
}

/// The person chose to stay.
pub fn stayed(t: &Face) -> Html {
    Frame::own(t, t.text("logout-stayed-title")).render(html! {
        h1 { (t.text("logout-stayed-heading")) }
        p .soft { (t.text("logout-stayed")) " " (t.text("page-close")) }
        p { a .button .main href="account" { (t.text("page-to-account")) } }
    })
}

/// How an application learns of its browser's logout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogoutFrame {
    /// What is loaded: `frontchannel_logout_uri` with `iss` and `sid`.
    pub url: String,
    /// Its web origin, for the policy.
    pub origin: String,
    /// The application's name.
    pub name: String,
}

/// Where a logout leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoutOnward<'a> {
    /// Nowhere.
    Stay,
    /// By a link to this host and URL: nobody known has asked for it.
    Link(&'a str, &'a str),
    /// There by itself, as soon as the frames are loaded; where there are no scripts, by a link.
    Go(&'a str, &'a str),
}

/// After a logout: it tells applications by frames (OpenID Connect Front-Channel Logout section 3).
/// A frame may run scripts and use its cookies; it cannot lead the whole window anywhere.
pub fn signed_out(t: &Face, onward: LogoutOnward<'_>, frames: &[LogoutFrame]) -> Html {
    let mut origins: Vec<String> = frames.iter().map(|frame| frame.origin.clone()).collect();
    origins.sort();
    origins.dedup();
    let files = match onward {
        LogoutOnward::Go(..) => vec![&*AFTER_LOGOUT],
        LogoutOnward::Stay | LogoutOnward::Link(..) => Vec::new(),
    };
    Frame {
        main_id: "signed-out",
        frames: origins,
        files,
        ..Frame::own(t, t.text("logout-done-title"))
    }
    .render(html! {
        h1 { (t.text("logout-done-heading")) }
        p .soft { (t.text("logout-done")) " " (t.text("page-close")) }
        @match onward {
            LogoutOnward::Stay => {}
            LogoutOnward::Link(host, url) | LogoutOnward::Go(host, url) => { (link(t, host, url)) }
        }
        @for frame in frames {
            iframe src=(frame.url) title=(frame.name) hidden sandbox="allow-scripts allow-same-origin" referrerpolicy="no-referrer" {}
        }
        p { a .button .main[onward == LogoutOnward::Stay] href="account" { (t.text("logout-again")) } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_allowed_by_their_origins_alone_and_only_a_known_place_is_gone_to() {
        let frame = |origin: &str, path: &str| LogoutFrame {
            url: format!("{origin}{path}?iss=a&sid=\"><script>"),
            origin: origin.to_owned(),
            name: "\"><script>x".to_owned(),
        };
        let (a, b) = ("https://a.example", "https://b.example:8443");
        let frames = [frame(b, "/out"), frame(a, "/x"), frame(a, "/y")];
        let there = ("c.example", "https://c.example/bye?state=1");
        let page = signed_out(
            &Face::default(),
            LogoutOnward::Link(there.0, there.1),
            &frames,
        );
        let policy = &page.headers()[0].1;
        assert!(
            policy.contains(&format!("; frame-src {a} {b};")),
            "{policy}"
        );
        assert!(!page.body.contains("<script"), "{}", page.body);
        assert_eq!(page.body.matches("<iframe ").count(), 3);
        let page = signed_out(
            &Face::default(),
            LogoutOnward::Go(there.0, there.1),
            &frames,
        );
        assert!(page.body.contains("integrity=\"sha256-"));
        assert!(page.body.contains("href=\"https://c.example/bye?state=1\""));
        assert!(page.headers()[0].1.contains("; script-src 'self'"));
        let page = signed_out(&Face::default(), LogoutOnward::Stay, &[]);
        assert!(!page.headers()[0].1.contains("frame-src"));
    }

    #[test]
    fn scripts_find_the_signed_out_page() {
        assert!(
            signed_out(&Face::default(), LogoutOnward::Stay, &[])
                .body
                .contains("<main id=\"signed-out\"")
        );
        assert!(!stayed(&Face::default()).body.contains("signed-out"));
    }
}
