//! The account page's part about agents.
use maud::{Markup, html};

use crate::parts::face::{Face, Part};

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

/// The section. `hidden`: the field that every form carries.
pub(crate) fn agents(t: &Face, view: &AgentsView, hidden: &Markup) -> Markup {
    html! {
        h2 #agents { (t.text("agents-title")) }
        @if view.grants.is_empty() {
            p .soft { (t.text("agents-none")) }
        } @else {
            ul .plain aria-labelledby="agents" {
                @for grant in &view.grants {
                    li {
                        div .row {
                            div {
                                strong { bdi { (grant.name.as_deref().unwrap_or(&grant.to)) } }
                                @if !grant.direct { " " span .soft { (t.text("agents-delegated")) } }
                                br;
                                code { (grant.capabilities.join(" ")) }
                                br;
                                span .small .soft {
                                    (t.html("agents-grant-facts", &[
                                        ("id", code(&grant.to)),
                                        ("since", Part::Html(t.time(grant.first_seen))),
                                        ("until", Part::Html(t.time(grant.ends_at))),
                                    ]))
                                }
                            }
                            form .inline method="post" action="account" {
                                (hidden)
                                input type="hidden" name="grant" value=(grant.id);
                                button .narrow type="submit" name="decision" value="revoke-grant"
                                    aria-label=(t.with("agents-grant-end-one", &[("name", grant.name.as_deref().unwrap_or(&grant.to).into())])) { (t.text("agents-grant-end")) }
                            }
                        }
                    }
                }
            }
        }
        @if !view.grants.is_empty() || !view.identities.is_empty() {
            form method="post" action="account" {
                (hidden)
                button type="submit" name="decision" value="stop-agents" { (t.text("agents-stop-all")) }
            }
        }

        h2 #identities { (t.text("agents-identities")) }
        p .soft { (t.text("agents-identities-text")) }
        @if !view.identities.is_empty() {
            ul .plain aria-labelledby="identities" {
                @for identity in &view.identities {
                    li {
                        div .row {
                            div {
                                strong { bdi { (identity.name) } }
                                br;
                                span .small .soft {
                                    (t.html("agents-identity-facts", &[
                                        ("id", code(&identity.id)),
                                        ("since", Part::Html(t.time(identity.since))),
                                        ("key", (identity.rotations + 1).into()),
                                    ]))
                                }
                            }
                            form .inline method="post" action="account" {
                                (hidden)
                                input type="hidden" name="agent" value=(identity.id);
                                button .narrow type="submit" name="decision" value="unbind-agent"
                                    aria-label=(t.with("agents-identity-remove-one", &[("name", (&identity.name).into())])) { (t.text("agents-identity-remove")) }
                            }
                        }
                    }
                }
            }
        }
        form method="post" action="account" {
            (hidden)
            p .small .soft {
                (t.text("agents-prove")) br;
                code #challenge { "signet agent prove --identity FILE --audience " (view.issuer) " --challenge " (view.challenge) }
            }
            label for="proof" { (t.text("agents-proof")) }
            textarea #proof name="proof" rows="4" required maxlength="16384" spellcheck="false" autocomplete="off" {}
            label for="document" { (t.text("agents-document")) }
            textarea #document name="document" rows="2" maxlength="16384" spellcheck="false" autocomplete="off" {}
            button type="submit" name="decision" value="bind-agent" { (t.text("agents-bind")) }
        }
    }
}
