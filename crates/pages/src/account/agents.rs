//! The account page's part about agents.
use maud::{Markup, html};

use crate::parts::button::{copied, copy_button};
use crate::parts::face::{Face, Part};
use crate::parts::icon::Icon;
use crate::parts::row::{Danger, Row, danger};

/// What a person sees of their agents.
#[derive(Debug, Clone, Default)]
pub struct AgentsView {
    /// For whom a proof is.
    pub issuer: String,
    /// What a proof answers.
    pub challenge: String,
    /// Identities that are bound to the account.
    pub identities: Vec<IdentityView>,
    /// Grants that were used here and have not ended.
    pub grants: Vec<AgentGrantView>,
}

/// A bound identity.
#[derive(Debug, Clone, Default)]
pub struct IdentityView {
    /// Its id.
    pub id: String,
    /// What its document calls it.
    pub name: String,
    /// How many times its key was rotated.
    pub rotations: u64,
    /// Unix seconds.
    pub since: u64,
}

/// A grant.
#[derive(Debug, Clone, Default)]
pub struct AgentGrantView {
    /// Its id.
    pub id: String,
    /// The agent that holds it.
    pub to: String,
    /// What the agent's document calls it, where one was shown.
    pub name: Option<String>,
    /// From the person's own identity; otherwise delegated by another agent.
    pub direct: bool,
    /// What it allows.
    pub capabilities: Vec<String>,
    /// Unix seconds.
    pub first_seen: u64,
    /// Unix seconds.
    pub ends_at: u64,
}

fn code(id: &str) -> Part {
    Part::Html(html! { code { (id) } })
}

/// The section. `open`: a form of it was just answered. `hidden`: the field that every form
/// carries.
pub(crate) fn agents(t: &Face, view: &AgentsView, open: bool, hidden: &Markup) -> Markup {
    html! {
        h2 #agents { (t.text("agents-title")) }
        @if view.grants.is_empty() {
            p .soft { (t.text("agents-none")) }
        } @else {
            ul .rows aria-labelledby="agents" {
                @for (index, one) in view.grants.iter().enumerate() { (grant(t, one, index, hidden)) }
            }
        }
        @if !view.grants.is_empty() || !view.identities.is_empty() {
            div .after {
                (danger(t, &Danger {
                    id: "stop-agents",
                    act: &t.text("agents-stop-all"),
                    title: &t.text("agents-stop-all"),
                    heading: None,
                    text: None,
                    decision: "stop-agents",
                    fields: hidden,
                }))
            }
        }

        h2 #identities { (t.text("agents-identities")) }
        p .soft { (t.text("agents-identities-text")) }
        @if !view.identities.is_empty() {
            ul .rows aria-labelledby="identities" {
                @for (index, one) in view.identities.iter().enumerate() { (identity(t, one, index, hidden)) }
            }
        }
        details #bind-agent open[open && view.identities.is_empty()] {
            summary { (t.text("agents-bind-open")) }
            (bind_form(t, view, hidden))
        }
    }
}

fn grant(t: &Face, grant: &AgentGrantView, index: usize, hidden: &Markup) -> Markup {
    let name = grant.name.as_deref().unwrap_or(&grant.to);
    let fields = html! {
        (hidden)
        input type="hidden" name="grant" value=(grant.id);
    };
    Row {
        mark: Some(Icon::Agent.show()),
        name: Some(html! {
            bdi { (name) }
            @if !grant.direct { " " span .soft { (t.text("agents-delegated")) } }
        }),
        state: Some(html! {
            code { (grant.capabilities.join(" ")) }
            br;
            (t.html("agents-grant-facts", &[
                ("id", code(&grant.to)),
                ("since", Part::Html(t.time(grant.first_seen))),
                ("until", Part::Html(t.time(grant.ends_at))),
            ]))
        }),
    }
    .with(&danger(
        t,
        &Danger {
            id: &format!("end-grant-{index}"),
            act: &t.text("agents-grant-end"),
            title: &t.with("agents-grant-end-one", &[("name", name.into())]),
            heading: None,
            text: None,
            decision: "revoke-grant",
            fields: &fields,
        },
    ))
}

fn identity(t: &Face, identity: &IdentityView, index: usize, hidden: &Markup) -> Markup {
    let fields = html! {
        (hidden)
        input type="hidden" name="agent" value=(identity.id);
    };
    Row {
        mark: Some(Icon::Badge.show()),
        name: Some(html! { bdi { (identity.name) } }),
        state: Some(t.html(
            "agents-identity-facts",
            &[
                ("id", code(&identity.id)),
                ("since", Part::Html(t.time(identity.since))),
                ("key", (identity.rotations + 1).into()),
            ],
        )),
    }
    .with(&danger(
        t,
        &Danger {
            id: &format!("unbind-agent-{index}"),
            act: &t.text("agents-identity-remove"),
            title: &t.with(
                "agents-identity-remove-one",
                &[("name", (&identity.name).into())],
            ),
            heading: None,
            text: None,
            decision: "unbind-agent",
            fields: &fields,
        },
    ))
}

fn bind_form(t: &Face, view: &AgentsView, hidden: &Markup) -> Markup {
    html! {
        form method="post" action="account" {
            (hidden)
            p .small .soft { (t.text("agents-prove")) }
            pre .command {
                code #challenge { "signet agent prove --identity FILE --audience " (view.issuer) " --challenge " (view.challenge) }
            }
            div .tools { (copy_button(t, "challenge")) }
            (copied(t))
            label for="proof" { (t.text("agents-proof")) }
            textarea #proof name="proof" rows="4" required maxlength="16384" spellcheck="false" autocomplete="off" {}
            label for="document" { (t.text("agents-document")) }
            textarea #document name="document" rows="2" maxlength="16384" spellcheck="false" autocomplete="off" {}
            button .main type="submit" name="decision" value="bind-agent" { (t.text("agents-bind")) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_waits_behind_a_link_and_what_ends_names_its_agent() {
        let view = AgentsView {
            grants: vec![AgentGrantView {
                to: "signet:agent:<b>".to_owned(),
                ..AgentGrantView::default()
            }],
            ..AgentsView::default()
        };
        let html = agents(&Face::default(), &view, false, &html! {}).into_string();
        assert!(!html.contains("<b>"), "{html}");
        let (before, behind) = html
            .split_once("<details id=\"bind-agent\">")
            .expect("closed");
        assert!(
            !before.contains("<textarea") && behind.contains("<textarea"),
            "{html}"
        );
        assert!(behind.contains("data-copy=\"challenge\""), "{behind}");
        assert!(
            before.contains("End the grant to signet:agent:&lt;b&gt;"),
            "{before}"
        );
        let open = agents(&Face::default(), &AgentsView::default(), true, &html! {});
        assert!(open.into_string().contains("id=\"bind-agent\" open"));
    }
}
