//! Mails: what they say, as text and as HTML, in the reader's language.
//!
//! The text part is whole by itself, and a code or link stands on a line of its own in it. The HTML
//! part loads nothing: the realm's logo is carried by the message.

use maud::{DOCTYPE, Markup, html};

use crate::parts::brand::{Brand, Picture};
use crate::parts::face::{Face, plain, strong};

/// A finished mail, without its receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// One line.
    pub subject: String,
    /// The whole of it, for every mail program.
    pub text: String,
    /// The same for those that show HTML.
    pub html: String,
}

/// A paragraph, once for each part.
struct Line {
    text: String,
    html: Markup,
}

impl Line {
    fn of(text: impl Into<String>) -> Line {
        let text = text.into();
        Line {
            html: html! { p style="margin:0 0 12px" { (text) } },
            text,
        }
    }

    /// What is copied.
    fn code(code: &str) -> Line {
        Line {
            text: code.to_owned(),
            html: html! {
                p style="margin:0 0 12px;font:600 28px monospace;letter-spacing:4px" dir="ltr" { (code) }
            },
        }
    }

    /// The link in full as text, a button in HTML.
    fn link(url: &str, label: &str, accent: &str, ink: &str) -> Line {
        let style = format!(
            "display:inline-block;padding:12px 20px;border-radius:8px;background:{accent};color:{ink};text-decoration:none;font-weight:600"
        );
        Line {
            text: url.to_owned(),
            html: html! { p style="margin:0 0 12px" { a href=(url) style=(style) { (label) } } },
        }
    }
}

/// Why somebody gets a mail: what stands below its rule.
enum Why<'a> {
    /// Somebody entered the address, perhaps its owner.
    Entered,
    /// Their account.
    Account(&'a str),
    /// They are invited.
    Invited,
}

impl Why<'_> {
    fn text(&self, t: &Face, server: &str) -> String {
        let brand = ("brand", t.brand.name().into());
        let server = ("server", server.into());
        match self {
            Why::Entered => t.with("mail-why-entered", &[brand, server]),
            Why::Account(name) => t.with(
                "mail-why-account",
                &[("name", (*name).into()), brand, server],
            ),
            Why::Invited => t.with("mail-why-invited", &[brand, server]),
        }
    }
}

/// Largest logo that goes along with every mail, in bytes.
const MAX_LOGO_BYTES: usize = 64 * 1024;

/// How the HTML names the picture that the message carries.
const CARRIED: &str = "cid:logo";

/// The picture that a mail carries, where its HTML shows one: media type and file. `own`: the
/// realm's brand.
pub fn carried_picture<'a>(html: &str, own: &'a Brand) -> Option<(&'static str, &'a [u8])> {
    let picture = mail_logo(own).filter(|_| html.contains(CARRIED))?;
    Some((picture.media_type, &picture.bytes))
}

/// The realm's logo, where mail programs show such pictures. That of a client does not go along:
/// its mails wait beside the realm's, and say nothing of whose they are.
fn mail_logo(brand: &Brand) -> Option<&Picture> {
    let shown = ["image/png", "image/jpeg"];
    let logo = brand.logo().filter(|_| brand.query.is_empty());
    logo.filter(|logo| shown.contains(&logo.media_type) && logo.bytes.len() <= MAX_LOGO_BYTES)
}

/// The brand's logo, which the mail carries, or its letter in its colour; and its name.
fn heading(t: &Face) -> Markup {
    if mail_logo(&t.brand).is_some() {
        return html! {
            p style="margin:0 0 24px;font-size:18px;font-weight:600" {
                img src=(CARRIED) alt="" height="32" style="height:32px;max-width:180px;margin:0 10px 0 0;border:0;vertical-align:middle";
                (t.brand.name())
            }
        };
    }
    let (accent, ink) = t.brand.button();
    let mark = format!(
        "display:inline-block;width:32px;height:32px;margin:0 10px 0 0;border-radius:8px;background:{accent};color:{ink};font-weight:700;line-height:32px;text-align:center"
    );
    let name = t.brand.name();
    let letter: String = name.chars().take(1).flat_map(char::to_uppercase).collect();
    html! {
        p style="margin:0 0 24px;font-size:18px;font-weight:600" {
            span style=(mark) aria-hidden="true" { (letter) }
            (name)
        }
    }
}

/// `server`: the issuer.
fn letter(t: &Face, subject: String, lines: &[Line], server: &str, why: &Why<'_>) -> Letter {
    let why = why.text(t, server);
    let mut texts: Vec<&str> = lines.iter().map(|line| &*line.text).collect();
    texts.push(&why);
    let page = html! {
        (DOCTYPE)
        html lang=(t.language.tag()) dir=(t.language.dir()) {
            head { meta charset="utf-8"; title { (subject) } }
            body style="margin:0;padding:24px;font:16px/1.5 sans-serif" {
                div style="max-width:560px;margin:0 auto" {
                    (heading(t))
                    @for line in lines { (line.html) }
                    p style="margin:28px 0 0;padding:16px 0 0;border-top:1px solid #d5ddd9;color:#52625b;font-size:13px" { (why) }
                }
            }
        }
    };
    Letter {
        // A line break would end the header.
        subject: subject.replace(['\r', '\n'], " "),
        text: format!("{}\n", texts.join("\n\n")),
        html: page.into_string(),
    }
}

fn button(t: &Face, url: &str, label: &'static str) -> Line {
    let (accent, ink) = t.brand.button();
    Line::link(url, &t.text(label), accent, ink)
}

/// What the mail with a one-time code says.
#[derive(Debug, Clone, Copy)]
pub struct LoginCode<'a> {
    /// The issuer.
    pub server: &'a str,
    /// The application that the login is for.
    pub client_name: Option<&'a str>,
    /// The code.
    pub digits: &'a str,
    /// A link that fills the code in.
    pub url: &'a str,
    /// How long it works.
    pub minutes: u64,
}

/// A one-time code.
pub fn login_code(t: &Face, code: &LoginCode<'_>) -> Letter {
    let minutes = [("minutes", code.minutes.max(1).into())];
    let mut lines = vec![
        Line::code(code.digits),
        Line::of(t.with("mail-code-is", &[("brand", t.brand.name().into())])),
    ];
    if let Some(client) = code.client_name {
        lines.push(Line {
            text: t.with("mail-code-client", &[("client", client.into())]),
            html: paragraph(t.html("mail-code-client", &[("client", strong(client))])),
        });
    }
    lines.push(Line::of(t.text("mail-code-link")));
    lines.push(button(t, code.url, "mail-code-button"));
    lines.push(Line::of(t.with("mail-code-once", &minutes)));
    lines.push(Line::of(t.text("mail-code-ignore")));
    let brand = t.brand.name();
    let subject = [("code", code.digits.into()), ("brand", brand.into())];
    let subject = t.with("mail-code-subject", &subject);
    letter(t, subject, &lines, code.server, &Why::Entered)
}

fn paragraph(content: Markup) -> Markup {
    html! { p style="margin:0 0 12px" { (content) } }
}

/// A link to a page that sets a new password.
pub fn recovery_link(t: &Face, server: &str, url: &str, minutes: u64) -> Letter {
    let brand = [("brand", t.brand.name().into())];
    let lines = [
        Line::of(t.with("mail-recover-text", &brand)),
        button(t, url, "mail-recover-button"),
        Line::of(t.with("mail-recover-once", &[("minutes", minutes.max(1).into())])),
    ];
    let subject = t.with("mail-recover-subject", &brand);
    letter(t, subject, &lines, server, &Why::Entered)
}

/// A link to a page that makes an account.
pub fn sign_up_link(t: &Face, server: &str, url: &str, minutes: u64) -> Letter {
    let brand = [("brand", t.brand.name().into())];
    let lines = [
        Line::of(t.with("mail-sign-up-text", &brand)),
        button(t, url, "mail-sign-up-button"),
        Line::of(t.with("mail-recover-once", &[("minutes", minutes.max(1).into())])),
    ];
    let subject = t.with("mail-sign-up-subject", &brand);
    letter(t, subject, &lines, server, &Why::Entered)
}

/// To an address that has an account, where somebody wanted to make one for it.
pub fn sign_up_known(t: &Face, server: &str, username: &str) -> Letter {
    let (login, recover) = (
        format!("{server}/account"),
        format!("{server}/account/recover"),
    );
    let brand = [("brand", t.brand.name().into())];
    let lines = [
        Line::of(t.with("mail-sign-up-known", &brand)),
        account_line(t, username),
        button(t, &login, "mail-sign-up-login"),
        Line::of(t.with("mail-sign-up-recover", &[("url", (&recover).into())])),
        Line::of(t.text("mail-sign-up-ignore")),
    ];
    let subject = t.with("mail-sign-up-known-subject", &brand);
    letter(t, subject, &lines, server, &Why::Entered)
}

/// What the mail to somebody who is invited says.
#[derive(Debug, Clone, Copy)]
pub struct InvitationLetter<'a> {
    /// The issuer.
    pub server: &'a str,
    /// The account's user name.
    pub username: &'a str,
    /// Who invites, where that is a person.
    pub by: Option<&'a str>,
    /// The link.
    pub url: &'a str,
    /// Until when it works, Unix seconds.
    pub until: u64,
}

/// A link by which somebody accepts an invitation.
pub fn invitation(t: &Face, invitation: &InvitationLetter<'_>) -> Letter {
    let brand = t.brand.name();
    let said = match invitation.by {
        Some(by) => Line {
            text: t.with(
                "mail-invitation-by",
                &[("by", by.into()), ("brand", brand.into())],
            ),
            html: paragraph(t.html(
                "mail-invitation-by",
                &[("by", strong(by)), ("brand", plain(brand))],
            )),
        },
        None => Line::of(t.with("mail-invitation-text", &[("brand", brand.into())])),
    };
    let lines = [
        said,
        account_line(t, invitation.username),
        button(t, invitation.url, "mail-invitation-button"),
        Line::of(t.with(
            "mail-invitation-until",
            &[("time", (&t.time_text(invitation.until)).into())],
        )),
    ];
    let brand = [("brand", brand.into())];
    let subject = t.with("mail-invitation-subject", &brand);
    letter(t, subject, &lines, invitation.server, &Why::Invited)
}

fn account_line(t: &Face, username: &str) -> Line {
    Line {
        text: t.with("factors-mail-account", &[("name", username.into())]),
        html: paragraph(t.html("factors-mail-account", &[("name", strong(username))])),
    }
}

/// That an account is to be erased, with a link that keeps it. `erase_at`: Unix seconds.
pub fn deletion_asked(t: &Face, server: &str, username: &str, url: &str, erase_at: u64) -> Letter {
    let lines = [
        Line::of(t.with(
            "mail-deletion-text",
            &[("time", (&t.time_text(erase_at)).into())],
        )),
        account_line(t, username),
        Line::of(t.text("mail-deletion-keep")),
        button(t, url, "deletion-keep"),
    ];
    let brand = [("brand", t.brand.name().into())];
    let subject = t.with("mail-deletion-subject", &brand);
    letter(t, subject, &lines, server, &Why::Account(username))
}

/// That an account is gone.
pub fn account_erased(t: &Face, server: &str, username: &str) -> Letter {
    let lines = [
        Line::of(t.text("mail-erased-text")),
        account_line(t, username),
    ];
    let brand = [("brand", t.brand.name().into())];
    let subject = t.with("mail-erased-subject", &brand);
    letter(t, subject, &lines, server, &Why::Account(username))
}

/// What happened to an account, when and from where.
#[derive(Debug, Clone, Copy)]
pub struct SecurityFacts<'a> {
    /// The subject: the id of a text, which may name the `brand`.
    pub subject: &'static str,
    /// What happened: the id of a text.
    pub what: &'static str,
    /// The account's user name.
    pub username: &'a str,
    /// The issuer.
    pub server: &'a str,
    /// Unix seconds.
    pub at: u64,
    /// Browser, in words, and address, of the person's own act.
    pub from: Option<(&'a str, &'a str)>,
}

/// One mail for one change of what an account is protected by.
pub fn security(t: &Face, facts: &SecurityFacts<'_>) -> Letter {
    let name = [("name", facts.username.into())];
    let mut lines = vec![
        Line::of(t.text(facts.what)),
        Line {
            text: t.with("factors-mail-account", &name),
            html: paragraph(t.html("factors-mail-account", &[("name", strong(facts.username))])),
        },
        Line::of(t.with("mail-when", &[("time", (&t.time_text(facts.at)).into())])),
    ];
    if let Some((browser, address)) = facts.from {
        let from = [("browser", browser.into()), ("address", address.into())];
        lines.push(Line::of(t.with("mail-where", &from)));
    }
    let url = format!("{}/account", facts.server);
    let advice = t.with("factors-mail-advice", &[("url", (&url).into())]);
    lines.push(Line::of(advice));
    lines.push(button(t, &url, "mail-account-button"));
    let brand = [("brand", t.brand.name().into())];
    let subject = t.with(facts.subject, &brand);
    letter(
        t,
        subject,
        &lines,
        facts.server,
        &Why::Account(facts.username),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_stands_on_a_line_of_its_own_and_in_the_subject() {
        let t = Face::default();
        let letter = login_code(
            &t,
            &LoginCode {
                server: "https://id.example",
                client_name: Some("<Shop>"),
                digits: "012345",
                url: "https://id.example/l?x",
                minutes: 5,
            },
        );
        assert!(
            letter
                .text
                .lines()
                .any(|line| line == "https://id.example/l?x")
        );
        assert!(letter.text.lines().any(|line| line == "012345"));
        assert!(letter.text.contains("You are logging in to <Shop>."));
        assert!(letter.html.contains("&lt;Shop&gt;"));
        assert!(letter.subject.contains("012345") && letter.subject.contains("Signet"));
    }

    #[test]
    fn an_invitation_says_to_what_and_by_whom() {
        let mut facts = InvitationLetter {
            server: "https://id.example",
            username: "erin",
            by: Some("Ada <b>"),
            url: "https://id.example/invitation?token=x",
            until: 0,
        };
        let letter = invitation(&Face::default(), &facts);
        assert_eq!(letter.subject, "You were invited to Signet");
        let said = "Ada <b> invited you to Signet";
        assert!(letter.text.starts_with(said), "{}", letter.text);
        assert!(!letter.html.contains("<b>"), "{}", letter.html);
        assert!(letter.html.contains(">Choose your password<"));
        facts.by = None;
        let letter = invitation(&Face::default(), &facts);
        assert!(letter.text.starts_with("You were invited to Signet"));
    }

    #[test]
    fn a_mail_says_whose_it_is_and_why_somebody_gets_it_and_loads_nothing() {
        let t = Face::default();
        let server = "https://id.example";
        let code = LoginCode {
            server,
            client_name: None,
            digits: "012345",
            url: "https://id.example/l?x",
            minutes: 5,
        };
        let letters = [
            (login_code(&t, &code), "was entered at Signet"),
            (
                recovery_link(&t, server, "https://x", 1),
                "was entered at Signet",
            ),
            (
                account_erased(&t, server, "erin"),
                "your account erin at Signet",
            ),
        ];
        for (letter, why) in letters {
            let last = letter.text.trim_end().lines().last().expect("a line");
            assert!(last.contains(why) && last.contains(server), "{last}");
            let before = letter.text.trim_end().len() - last.len();
            // The address of the server stands there alone, and in links.
            let said = letter.text[..before].lines();
            let mut said = said.filter(|line| !line.starts_with("https://"));
            assert!(said.all(|line| !line.contains(server)), "{}", letter.text);
            assert!(letter.html.contains(">S</span>"), "{}", letter.html);
            assert!(!letter.html.contains("src="), "{}", letter.html);
        }
    }

    #[test]
    fn a_mail_carries_the_realms_logo_and_no_other_picture() {
        let brand = |bytes: &[u8]| {
            let parts = crate::BrandParts {
                name: Some("Example".to_owned()),
                logo: Picture::of(bytes.to_vec()),
                ..crate::BrandParts::default()
            };
            Brand::new(parts).expect("a brand")
        };
        let mail = |brand: Brand| {
            let t = Face {
                brand: brand.into(),
                ..Face::default()
            };
            let letter = account_erased(&t, "https://id.example", "erin");
            let carried = carried_picture(&letter.html, &t.brand).map(|(kind, _)| kind);
            (letter.html.contains("src=\"cid:logo\""), carried)
        };
        let png = [0x89, b'P', b'N', b'G'];
        assert_eq!(mail(brand(&png)), (true, Some("image/png")));
        // Mail programs show no SVG; a client's is not the realm's.
        assert_eq!(mail(brand(b"<svg/>")), (false, None));
        let mut other = brand(&png);
        other.query = "?client_id=shop".to_owned();
        assert_eq!(mail(other), (false, None));
    }

    #[test]
    fn a_link_is_whole_in_both_parts() {
        let url = "https://id.example/account/recover?token=abc";
        let letter = recovery_link(&Face::default(), "https://id.example", url, 30);
        assert!(letter.text.lines().any(|line| line == url));
        assert!(letter.html.contains(&format!("href=\"{url}\"")));
    }

    #[test]
    fn a_security_mail_says_what_when_and_where_and_is_escaped() {
        let facts = SecurityFacts {
            subject: "mail-new-device-subject",
            what: "mail-new-device",
            username: "<b>ada",
            server: "https://id.example",
            at: 0,
            from: Some(("Firefox on Linux", "192.0.2.1")),
        };
        let letter = security(&Face::default(), &facts);
        let url = "https://id.example/account";
        for part in ["<b>ada", "1 Jan 1970", "192.0.2.1", "Firefox on Linux", url] {
            assert!(letter.text.contains(part), "{part}: {}", letter.text);
        }
        assert!(!letter.html.contains("<b>"));
        assert!(letter.subject.contains("Signet"), "{}", letter.subject);
    }
}
