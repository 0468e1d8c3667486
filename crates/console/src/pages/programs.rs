//! Kinds of applications as people read them, and the programs to paste for them.

use maud::{Markup, html};
use signet_connect::{Connection, Kind};
use signet_pages::Face;

/// Text and further text of each kind.
const TEXTS: [(&str, &str, &str); 7] = [
    ("web", "console-wizard-web", "console-wizard-web-about"),
    ("spa", "console-wizard-spa", "console-wizard-spa-about"),
    (
        "native",
        "console-wizard-native",
        "console-wizard-native-about",
    ),
    (
        "service",
        "console-wizard-service",
        "console-wizard-service-about",
    ),
    (
        "device",
        "console-wizard-device",
        "console-wizard-device-about",
    ),
    ("mcp", "console-wizard-mcp", "console-wizard-mcp-about"),
    (
        "agent",
        "console-wizard-agent",
        "console-wizard-agent-about",
    ),
];

/// What a kind is called, and what it is.
pub(super) fn texts(t: &Face, kind: &Kind) -> (String, String) {
    let found = TEXTS.iter().find(|(name, ..)| *name == kind.name);
    let text = |id: &str| t.language.find(id).unwrap_or_default().into_owned();
    found.map_or_else(Default::default, |(_, name, about)| {
        (text(name), text(about))
    })
}

/// Programs to paste, the usual library's first.
pub(super) fn pasted(t: &Face, kind: &Kind, of: &Connection<'_>) -> Markup {
    html! {
        section .panel .programs {
            h2 { (t.text("console-program")) }
            @for (index, program) in kind.programs.iter().enumerate() {
                details open[index == 0] name="program" {
                    summary { (program.library) " " code .soft { (program.file) } }
                    div .snippet {
                        button .plain type="button" data-copy=(t.text("console-copied")) hidden { (t.text("console-copy")) }
                        pre tabindex="0" { code { (kind.lines(program, of)) } }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_connect::KINDS;

    #[test]
    fn every_kind_has_its_words() {
        for kind in &KINDS {
            let (name, about) = texts(&Face::default(), kind);
            assert!(!name.is_empty() && !about.is_empty(), "{}", kind.name);
        }
    }
}
