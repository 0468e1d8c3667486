//! Small pictures beside a line. Each says what the words beside it say, so none is read out.

use maud::{Markup, PreEscaped, html};
use signet_oauth::people::provider::Preset;

/// What there is a picture of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Icon {
    /// An account's id.
    Badge,
    /// A check mark.
    Check,
    /// Time that goes on.
    Clock,
    /// A program that acts by itself.
    Agent,
    /// A computer's screen.
    Computer,
    /// The languages of the world.
    Globe,
    /// Where somebody lives.
    Home,
    /// A passkey.
    Key,
    /// An envelope.
    Mail,
    /// Several people.
    People,
    /// One person.
    Person,
    /// A telephone, and an app on it.
    Phone,
    /// What protects.
    Shield,
    /// Look twice.
    Warning,
}

impl Icon {
    /// What is drawn, on 24 by 24 units.
    fn drawn(self) -> &'static str {
        match self {
            Icon::Badge => {
                r#"<rect x="3" y="5" width="18" height="14" rx="2.2"/><circle cx="8.8" cy="11" r="2"/><path d="M5.8 16c.5-1.6 1.6-2.4 3-2.4s2.5.8 3 2.4M14.8 10.2h3.4M14.8 13.8h3.4"/>"#
            }
            Icon::Check => r#"<path d="M5 12.6 9.6 17 19 7.4"/>"#,
            Icon::Clock => r#"<circle cx="12" cy="12" r="8.8"/><path d="M12 7v5.2l3.4 2"/>"#,
            Icon::Agent => {
                r#"<rect x="4" y="8" width="16" height="11" rx="3"/><path d="M12 8V4.4M9 13v1M15 13v1M2 12.5v3M22 12.5v3"/><circle cx="12" cy="3.4" r="1"/>"#
            }
            Icon::Computer => {
                r#"<rect x="3" y="4" width="18" height="12" rx="2"/><path d="M8.5 20h7M12 16v4"/>"#
            }
            Icon::Globe => {
                r#"<circle cx="12" cy="12" r="8.8"/><path d="M3.2 12h17.6M12 3.2c3.2 3 3.2 14.6 0 17.6M12 3.2c-3.2 3-3.2 14.6 0 17.6"/>"#
            }
            Icon::Home => r#"<path d="M3.6 11.4 12 4.2l8.4 7.2M6 9.6V20h12V9.6M10 20v-5.4h4V20"/>"#,
            Icon::Key => {
                r#"<circle cx="7.8" cy="12" r="4.2"/><path d="M12 12h9.4v3.4M17.4 12v2.6"/>"#
            }
            Icon::Mail => {
                r#"<rect x="3" y="5" width="18" height="14" rx="2.2"/><path d="m3.8 7.2 8.2 6 8.2-6"/>"#
            }
            Icon::People => {
                r#"<circle cx="9" cy="8.6" r="3.2"/><path d="M2.8 19c.6-3.6 3-5.4 6.2-5.4s5.6 1.8 6.2 5.4M15.4 5.8a3.1 3.1 0 0 1 0 5.8M17.4 14c2.1.7 3.4 2.4 3.8 5"/>"#
            }
            Icon::Person => {
                r#"<circle cx="12" cy="8" r="3.8"/><path d="M4.4 20.4c.8-4.2 3.7-6.3 7.6-6.3s6.8 2.1 7.6 6.3"/>"#
            }
            Icon::Phone => {
                r#"<rect x="6.6" y="2.6" width="10.8" height="18.8" rx="2.2"/><path d="M10.8 18.2h2.4"/>"#
            }
            Icon::Shield => {
                r#"<path d="M12 3.2 19 6v5.4c0 4.6-2.8 7.6-7 9.4-4.2-1.8-7-4.8-7-9.4V6z"/>"#
            }
            Icon::Warning => r#"<path d="M12 4.2 21 19.8H3zM12 10v4.4M12 17v.2"/>"#,
        }
    }

    /// As a picture of the height of a line.
    pub(crate) fn show(self) -> Markup {
        html! {
            svg .icon width="20" height="20" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false" {
                // A constant of this file.
                (PreEscaped(self.drawn()))
            }
        }
    }
}

/// The first letter of a name, in a circle: where there is no picture of its own.
pub(crate) fn letter(name: &str) -> Markup {
    let letter: String = name.chars().take(1).flat_map(char::to_uppercase).collect();
    html! { span .mark .letter aria-hidden="true" { (letter) } }
}

/// First letters of the first and the last word of a person's name.
pub(crate) fn initials(name: &str) -> String {
    let mut words = name.split_whitespace();
    let first = words.next().and_then(|word| word.chars().next());
    let last = words.next_back().and_then(|word| word.chars().next());
    first
        .into_iter()
        .chain(last)
        .flat_map(char::to_uppercase)
        .collect()
}

/// The house's own mark.
pub(crate) fn signet() -> Markup {
    html! {
        svg width="26" height="26" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" aria-hidden="true" {
            circle cx="12" cy="12" r="9.2" {}
            path d="M15.6 8.7c-.7-1-2-1.6-3.6-1.6-2 0-3.6 1-3.6 2.5 0 3.6 7.4 1.4 7.4 4.9 0 1.5-1.7 2.5-3.8 2.5-1.7 0-3.1-.7-3.8-1.8" {}
        }
    }
}

/// What tells a well-known identity provider from the others, where its operator named no picture:
/// its colours or its outline, drawn for this page. It says to whom the button leads, and nothing
/// else.
pub(crate) fn provider(preset: Preset) -> Markup {
    let drawn = match preset {
        // Four arcs of one circle, and the bar.
        Preset::Google => {
            r##"<g fill="none" stroke-width="3.6"><path stroke="#ea4335" d="M15.2 5.3A7 7 0 0 0 4 6.6"/><path stroke="#fbbc05" d="M4.1 6.4a7 7 0 0 0 0 7.2"/><path stroke="#34a853" d="M4 13.4a7 7 0 0 0 10.6 1.8"/><path stroke="#4285f4" d="M14.4 15.4A7 7 0 0 0 17 10h-7"/></g>"##
        }
        Preset::Microsoft => {
            r##"<path fill="#f25022" d="M1.5 1.5h8v8h-8z"/><path fill="#7fba00" d="M10.5 1.5h8v8h-8z"/><path fill="#00a4ef" d="M1.5 10.5h8v8h-8z"/><path fill="#ffb900" d="M10.5 10.5h8v8h-8z"/>"##
        }
        Preset::Gitlab => {
            r##"<path fill="#e24329" d="m10 18.4 3.2-9.6H6.8z"/><path fill="#fc6d26" d="M10 18.4 6.8 8.8H2.2zM10 18.4l3.2-9.6h4.6z"/><path fill="#fca326" d="M2.2 8.8 1 12.2 10 18.4zM17.8 8.8l1.2 3.4-9 6.2z"/><path fill="#e24329" d="M2.2 8.8h4.6L4.7 2.2zM17.8 8.8h-4.6l2.1-6.6z"/>"##
        }
        // The head of a cat in a disc.
        Preset::Github => {
            r#"<path fill="currentColor" fill-rule="evenodd" d="M10 .8a9.2 9.2 0 1 0 0 18.4A9.2 9.2 0 0 0 10 .8zM5.4 4.8c1 .1 1.9.6 2.7 1.1a8 8 0 0 1 3.8 0c.8-.5 1.7-1 2.7-1.1.4 1 .4 1.9.1 2.8.7.8 1 1.7 1 2.8 0 2.9-1.7 3.9-3.7 4.2.4.4.6 1 .6 1.8v2H7.4v-1.5c-1.9.4-2.4-.8-2.8-1.6.9.1 1.5 1.1 2.9.8 0-.6.2-1.1.5-1.5-2-.3-3.7-1.3-3.7-4.2 0-1.1.3-2 1-2.8-.3-.9-.3-1.8.1-2.8z"/>"#
        }
        // An apple with a bite and a leaf.
        Preset::Apple => {
            r#"<path fill="currentColor" d="M13.9 5.6c-1.5 0-2.6.9-3.5.9s-2-.8-3.3-.8C4.5 5.7 2.6 7.9 2.6 11c0 3.8 2.7 8 4.9 8 1.1 0 1.7-.7 3-.7s1.8.7 2.9.7c1.5 0 3-2 3.9-4.4a4 4 0 0 1-2.5-3.7c0-1.5.8-2.7 2-3.4a4.3 4.3 0 0 0-2.9-1.9zM10.2 5c-.1-2.3 1.5-4.1 3.5-4.4.2 2.3-1.5 4.3-3.5 4.4z"/>"#
        }
    };
    html! {
        svg .icon width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false" { (PreEscaped(drawn)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_are_of_the_first_and_the_last_word() {
        assert_eq!(initials("alice"), "A");
        assert_eq!(initials("Alice Pleasance Liddell"), "AL");
        assert_eq!(initials("  "), "");
        assert_eq!(initials("ß"), "SS");
    }

    #[test]
    fn a_letter_of_somebodys_name_stays_text() {
        assert!(letter("<b>").into_string().contains("&lt;"));
    }
}
