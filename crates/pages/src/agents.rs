//! The account page's part about agents.
use maud::{Markup, html};

use super::layout::time_text;

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

/// The section. `hidden`: the field that every form carries.
pub(super) fn agents(view: &AgentsView, hidden: &Markup) -> Markup {
    html! {
        h2 #agents { "Agents" }
        @if view.grants.is_empty() {
            p .soft { "No agent has acted for you." }
        } @else {
            ul .plain aria-labelledby="agents" {
                @for grant in &view.grants {
                    li {
                        div .row {
                            div {
                                strong { bdi { (grant.name.as_deref().unwrap_or(&grant.to)) } }
                                @if !grant.direct { " " span .soft { "(through another agent)" } }
                                br;
                                code { (grant.capabilities.join(" ")) }
                                br;
                                span .small .soft {
                                    code { (grant.to) } " · since " (time_text(grant.first_seen)) ", until " (time_text(grant.ends_at))
                                }
                            }
                            form .inline method="post" action="account" {
                                (hidden)
                                input type="hidden" name="grant" value=(grant.id);
                                button .narrow type="submit" name="decision" value="revoke-grant"
                                    aria-label=(format!("End the grant to {}", grant.name.as_deref().unwrap_or(&grant.to))) { "End" }
                            }
                        }
                    }
                }
            }
        }
        @if !view.grants.is_empty() || !view.identities.is_empty() {
            form method="post" action="account" {
                (hidden)
                button type="submit" name="decision" value="stop-agents" { "Stop all agents and remove the identities" }
            }
        }

        h2 #identities { "Identities for agents" }
        p .soft { "What an identity that is bound here grants to agents, they may do in your name." }
        @if !view.identities.is_empty() {
            ul .plain aria-labelledby="identities" {
                @for identity in &view.identities {
                    li {
                        div .row {
                            div {
                                strong { bdi { (identity.name) } }
                                br;
                                span .small .soft {
                                    code { (identity.id) } " · since " (time_text(identity.since)) " · key " (identity.rotations + 1)
                                }
                            }
                            form .inline method="post" action="account" {
                                (hidden)
                                input type="hidden" name="agent" value=(identity.id);
                                button .narrow type="submit" name="decision" value="unbind-agent"
                                    aria-label=(format!("Remove the identity {}", identity.name)) { "Remove" }
                            }
                        }
                    }
                }
            }
        }
        form method="post" action="account" {
            (hidden)
            p .small .soft {
                "To bind an identity, or to renew its document, prove that you hold it:" br;
                code #challenge { "signet agent prove --identity FILE --audience " (view.issuer) " --challenge " (view.challenge) }
            }
            label for="proof" { "The proof that this prints" }
            textarea #proof name="proof" rows="4" required maxlength="16384" spellcheck="false" autocomplete="off" {}
            label for="document" { "The identity document, unless the proof brings it" }
            textarea #document name="document" rows="2" maxlength="16384" spellcheck="false" autocomplete="off" {}
            button type="submit" name="decision" value="bind-agent" { "Bind the identity" }
        }
    }
}
