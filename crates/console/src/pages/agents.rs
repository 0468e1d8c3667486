//! `/console/agents`: every agent with its owner, and the chains of grants as a tree.

use maud::{Markup, html};
use serde_json::Value;
use signet_pages::Face;
use signet_request::http::{Context, Response};
use std::collections::{BTreeMap, HashMap};

use super::list::{self, Found};
use super::parts;
use crate::call::{self, Call};
use crate::engine::catalog::Catalog;
use crate::session::Session;
use crate::view::shell::{encoded, href};

const SHOW: &str = "showAgent";
const END: &str = "endAgentGrant";
/// Agents of a page whose grants are read for the tree.
const MAX_READ: usize = 25;
/// Grants that a tree has at most.
const MAX_GRANTS: usize = 200;
/// How deep a chain may be: the exchange takes no longer one.
const MAX_DEPTH: usize = 8;

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    match Session::of(context).await {
        Ok(session) => list::of_kind(session, "agents", chains).await,
        Err(answer) => answer,
    }
}

/// Grants by their ids, in the order in which they end.
type Grants = BTreeMap<String, Value>;

async fn chains(session: &Session, found: &Found) -> Markup {
    let (t, catalog) = (session.face(), Catalog::house());
    let Some(row) = catalog.operation(SHOW) else {
        return html! {};
    };
    let mut grants = Grants::new();
    let mut names: HashMap<&str, &str> = HashMap::new();
    for agent in &found.rows {
        let name = agent["name"].as_str().unwrap_or_default();
        let id = agent["agent_id"].as_str().unwrap_or_default();
        names.insert(id, if name.is_empty() { id } else { name });
    }
    let ids = found
        .rows
        .iter()
        .filter_map(|agent| agent["agent_id"].as_str());
    for id in ids.take(MAX_READ) {
        let read = call::read(session, row, Call::of(Some("agent_id"), id)).await;
        let Ok(document) = read else { continue };
        for grant in document["grants"].as_array().into_iter().flatten() {
            let known = grant["grant_id"].as_str().unwrap_or_default().to_owned();
            if grants.len() < MAX_GRANTS {
                grants.insert(known, grant.clone());
            }
        }
    }
    html! { (orphans(&t, &found.rows)) (tree(&t, &grants, &names)) }
}

/// Agents that still act, and whose owner has left.
fn orphans(t: &Face, agents: &[Value]) -> Markup {
    let is_orphan = |agent: &&Value| agent["orphan"] == true && agent["stopped_at"].is_null();
    let left: Vec<&Value> = agents.iter().filter(is_orphan).collect();
    html! {
        @if !left.is_empty() {
            ul .picked {
                @for agent in left {
                    @let id = agent["agent_id"].as_str().unwrap_or_default();
                    li {
                        a href=(href(t, &format!("/agents/{}", encoded(id)))) { bdi { (agent["name"].as_str().unwrap_or(id)) } }
                        span .state data-state="failure" { (t.text("console-orphan")) }
                    }
                }
            }
        }
    }
}

fn tree(t: &Face, grants: &Grants, names: &HashMap<&str, &str>) -> Markup {
    if grants.is_empty() {
        return html! {};
    }
    let is_root = |grant: &&Value| {
        let parent = grant["parent"].as_str();
        parent.is_none_or(|parent| !grants.contains_key(parent))
    };
    let mut roots: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for grant in grants.values().filter(is_root) {
        let owner = grant["user_id"].as_str().unwrap_or_default();
        roots.entry(owner).or_default().push(grant);
    }
    html! {
        section .panel {
            h2 { (t.text("console-chains")) }
            ul .tree {
                @for (owner, roots) in &roots {
                    li {
                        a .node .person href=(href(t, &format!("/users/{}", encoded(owner)))) {
                            bdi { @let named = roots.first().and_then(|grant| names.get(grant["from"].as_str()?)); (named.copied().unwrap_or(owner)) }
                        }
                        ul { @for grant in roots { (branch(t, grants, names, grant, 1)) } }
                    }
                }
            }
        }
    }
}

fn branch(
    t: &Face,
    grants: &Grants,
    names: &HashMap<&str, &str>,
    grant: &Value,
    depth: usize,
) -> Markup {
    let text = |name: &str| grant[name].as_str().unwrap_or_default();
    let (id, to) = (text("grant_id"), text("to"));
    let below = grants
        .values()
        .filter(|one| one["parent"].as_str() == Some(id));
    let below: Vec<&Value> = below.filter(|_| depth < MAX_DEPTH).collect();
    let is_over = grant["revoked"] == true;
    let capabilities = grant["capabilities"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    html! {
        li {
            div .node data-over[is_over] {
                a href=(href(t, &format!("/agents/{}", encoded(to)))) { bdi { (names.get(to).copied().unwrap_or(to)) } }
                @if is_over { span .state data-state="revoked" { "revoked" } }
                @for one in capabilities.iter().filter_map(Value::as_str) { code .chip { bdi { (one) } } }
                @if let Some(end) = grant["ends_at"].as_u64() { span .soft { "→ " (t.time(end)) } }
                @if !is_over && let Some(row) = Catalog::house().operation(END) {
                    a .button .small .bad href=(href(t, &parts::operation_at(row, &[("agent_id", to), ("grant_id", id)]))) { (t.text("console-end")) }
                }
            }
            @if !below.is_empty() { ul { @for one in &below { (branch(t, grants, names, one, depth + 1)) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whoever_still_acts_and_whose_owner_has_left_is_named() {
        let agents = [
            json!({ "agent_id": "a", "name": "Left", "orphan": true }),
            json!({ "agent_id": "b", "name": "Stopped", "orphan": true, "stopped_at": 1 }),
            json!({ "agent_id": "c", "name": "Kept" }),
        ];
        let said = orphans(&Face::default(), &agents).into_string();
        assert!(
            said.contains("Left") && said.contains("its owner has left"),
            "{said}"
        );
        assert!(
            !said.contains("Stopped") && !said.contains("Kept"),
            "{said}"
        );
    }

    #[test]
    fn a_chain_is_a_tree_under_the_person_whose_it_is() {
        let grant = |id: &str, parent: Option<&str>, from: &str, to: &str| {
            let grant = json!({
                "grant_id": id, "parent": parent, "from": from, "to": to, "user_id": "u1",
                "capabilities": ["read:orders/*"], "ends_at": 2_000_000_000_u64, "revoked": id == "g3",
            });
            (id.to_owned(), grant)
        };
        let grants = Grants::from([
            grant("g1", None, "alice", "bob"),
            grant("g2", Some("g1"), "bob", "carol"),
            grant("g3", Some("g2"), "carol", "dave"),
        ]);
        let names = HashMap::from([("alice", "Alice"), ("bob", "Bob")]);
        let drawn = tree(&Face::default(), &grants, &names).into_string();
        let at = |text: &str| {
            drawn
                .find(text)
                .unwrap_or_else(|| panic!("{text}: {drawn}"))
        };
        assert!(at(">Alice<") < at(">Bob<") && at(">Bob<") < at(">carol<"));
        assert_eq!(drawn.matches("<ul>").count(), 3, "{drawn}");
        assert_eq!(
            drawn.matches("endAgentGrant").count(),
            2,
            "what ended ends no more"
        );
        assert!(
            tree(&Face::default(), &Grants::new(), &names)
                .into_string()
                .is_empty()
        );
    }
}
