//! Access rules, and what they decide.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::Serialize;
use signet_oauth::authorize::acr;
use signet_oauth::issued::session::UserClaims;
use signet_oauth::people::access_rules::{AccessRule, Origin, Question, moment};
use signet_oauth::scope::ScopeSet;
use signet_oauth::token::target;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Members, Page, Query, Revision, RuleName};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Json, Revised, Written};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::state::Realm;
use signet_registry::{kinds::RecordKind, rules::RuleForm};
use std::{net::IpAddr, sync::Arc};

const LIST: &str = "/admin/v1/rules";
const ONE: &str = "/admin/v1/rules/{rule}";
const DECISION: &str = "/admin/v1/access";
const MODE: &str = "/admin/v1/access/mode";

/// Access rules.
pub const RULES: Noun = Noun {
    name: "rule",
    list: LIST,
    id: "name",
    columns: &[
        "name",
        "effect",
        "users",
        "groups",
        "clients",
        "scopes",
        "description",
    ],
    sorted_by: None,
    written: &[RuleForm::json_schema],
};

/// Where a decision is explained, below `/admin/v1`.
pub const EXPLAIN: &str = "/access";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listRules", Area::Access, Read, Method::Get, LIST, "List access rules", run!(list)),
    &Operation::new("showRule", Area::Access, Read, Method::Get, ONE, "Show an access rule", run!(show)),
    &Operation::new("writeRule", Area::Access, Write, Method::Put, ONE, "Add an access rule; with If-Match, replace one", run!(write)),
    &Operation::new("removeRule", Area::Access, Write, Method::Delete, ONE, "Remove an access rule", run!(remove)),
    &Operation::new("explainAccess", Area::Access, Read, Method::Get, DECISION, "Say which access rule decides a question, and the mode in force", run!(explain)),
    &Operation::new("showAccessMode", Area::Access, Read, Method::Get, MODE, "Say what holds where no access rule decides", run!(mode)),
];

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<RuleForm>>, Problem> {
    let snapshot = realm.snapshot();
    let after = page.after.as_deref();
    let rules = snapshot.registry.rules.iter();
    let found = rules.filter(|(name, _)| after.is_none_or(|after| name.as_str() > after));
    let items = found
        .take(page.limit + 1)
        .map(|(_, rule)| RuleForm::of(rule));
    Ok(Json(List::cut(items.collect(), page.limit, |rule| {
        rule.name.clone().unwrap_or_default()
    })))
}

fn shown(realm: &Realm, name: &str) -> Result<Revised<RuleForm>, Problem> {
    let snapshot = realm.snapshot();
    let rule = snapshot.registry.rules.get(name);
    let rule = rule.ok_or_else(Problem::not_found)?;
    Ok(Revised {
        value: RuleForm::of(rule),
        revision: rule.revision,
    })
}

async fn show(realm: Arc<Realm>, RuleName(name): RuleName) -> Result<Revised<RuleForm>, Problem> {
    // What another node wrote a moment ago may not have come here yet.
    realm.learn(RecordKind::Rule, &name).await?;
    shown(&realm, &name)
}

async fn write(
    realm: Arc<Realm>,
    (RuleName(name), revision, Json(wanted)): (RuleName, Option<Revision>, Json<RuleForm>),
) -> Result<Written<Revised<RuleForm>>, Problem> {
    let read = revision.map(|Revision(read)| read);
    put(&realm, &name, wanted, read).await?;
    let shown = shown(&realm, &name)?;
    Ok(match read {
        None => Written::New(shown),
        Some(_) => Written::Replaced(shown),
    })
}

/// Writes an access rule. Its users may be named as they log in.
pub(crate) async fn put(
    realm: &Realm,
    name: &str,
    mut wanted: RuleForm,
    read: Option<u64>,
) -> Result<(), Problem> {
    if wanted.name.as_deref().is_some_and(|said| said != name) {
        return Err(Problem::invalid("the name cannot be changed"));
    }
    for list in [&mut wanted.users, &mut wanted.except.users] {
        for user in list {
            *user = person(realm, user).await?.sub;
        }
    }
    let rule = wanted.rule(name).map_err(Problem::invalid)?;
    realm.write_rule(&rule, read).await?;
    Ok(())
}

async fn remove(realm: Arc<Realm>, RuleName(name): RuleName) -> Result<(), Problem> {
    Ok(realm.remove_record::<AccessRule>(&name, None).await?)
}

/// An account by its id, or else by a name that it logs in with.
async fn person(realm: &Realm, named: &str) -> Result<UserClaims, Problem> {
    let (users, now) = (&realm.people.users, realm.now());
    let found = match users.by_id(named, now).await? {
        Some(user) => Some(user),
        None => users.by_login(named, now).await?,
    };
    let found = found.map(|user| user.claims());
    found.ok_or_else(|| Problem::invalid(format!("there is no user {named}")))
}

/// What holds where no rule decides.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AccessMode")]
struct ModeDocument {
    /// `allow`: whatever no rule denies; `deny`: nothing that no rule allows.
    mode: &'static str,
    /// How many rules there are.
    rules: usize,
}

async fn mode(realm: Arc<Realm>, (): ()) -> Result<Json<ModeDocument>, Problem> {
    let snapshot = realm.snapshot();
    Ok(Json(ModeDocument {
        mode: snapshot.settings.access.as_str(),
        rules: snapshot.registry.rules.len(),
    }))
}

/// A question of access.
struct Asked {
    user: Option<String>,
    client: String,
    scope: ScopeSet,
    resources: Vec<String>,
    origin: Origin,
    acr: Vec<String>,
    at: Option<u64>,
}

impl Members for Asked {
    const MEMBERS: &'static [(&'static str, &'static str)] = &[
        (
            "user",
            "id, name or address; without one, the client asks for itself",
        ),
        ("client", "the client's id"),
        ("scope", "scopes, separated by spaces"),
        (
            "resource",
            "resource servers, separated by spaces; default: the default audience",
        ),
        (
            "network",
            "the address that the request comes from; default: one that every rule about networks lets in",
        ),
        (
            "acr",
            "authentication context classes that the login reaches, separated by spaces; default: every rule about them lets in",
        ),
        ("at", "the moment (RFC 3339); default: now"),
    ];

    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<Asked, Problem> {
        let words = |name: &str| -> Vec<String> {
            let words = member(name).unwrap_or_default().split_ascii_whitespace();
            words.map(str::to_owned).collect()
        };
        let scope = ScopeSet::parse(member("scope").unwrap_or_default());
        let origin = match member("network") {
            None => Origin::Earlier,
            Some(text) => {
                let address: Option<IpAddr> = text.parse().ok();
                Origin::Address(address.ok_or_else(|| Problem::invalid("network is an address"))?)
            }
        };
        Ok(Asked {
            user: member("user").map(str::to_owned),
            client: member("client")
                .ok_or_else(|| Problem::invalid("client is missing"))?
                .to_owned(),
            scope: scope.map_err(|_| Problem::invalid("scope has a malformed scope"))?,
            resources: words("resource"),
            origin,
            acr: words("acr"),
            at: member("at")
                .map(moment)
                .transpose()
                .map_err(Problem::invalid)?,
        })
    }
}

/// What is decided.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AccessDecision")]
struct DecisionDocument {
    /// Whether access rules let it through.
    allowed: bool,
    /// `allow` or `deny`.
    decision: &'static str,
    /// The rule that decided; none: the mode did.
    rule: Option<String>,
    /// What holds where no rule decides: `allow` or `deny`.
    mode: &'static str,
    /// Every rule whose conditions hold for some part of what is asked.
    holding: Vec<String>,
}

async fn explain(
    realm: Arc<Realm>,
    Query(asked): Query<Asked>,
) -> Result<Json<DecisionDocument>, Problem> {
    let person = match &asked.user {
        Some(user) => Some(person(&realm, user).await?),
        None => None,
    };
    realm.learn(RecordKind::Client, &asked.client).await?;
    let snapshot = realm.snapshot();
    if !snapshot.registry.clients.contains_key(&asked.client) {
        return Err(Problem::invalid(format!(
            "there is no client {}",
            asked.client
        )));
    }
    let reached: Vec<&str> = asked.acr.iter().map(String::as_str).collect();
    if let Some(unknown) = reached
        .iter()
        .find(|name| acr::CLASSES.iter().all(|class| class.name != **name))
    {
        return Err(Problem::invalid(format!("there is no class {unknown}")));
    }
    let mode = snapshot.settings.access;
    let access = snapshot.registry.access(mode);
    let question = Question {
        person: person.as_ref().map(|one| (one.sub.as_str(), &one.held)),
        client_id: &asked.client,
        scope: &asked.scope,
        audience: &target::audience_of(&snapshot.settings, &asked.resources),
        origin: asked.origin,
        classes: (person.is_none() || !reached.is_empty()).then_some(&reached[..]),
        now: asked.at.unwrap_or_else(|| realm.now()),
    };
    let verdict = access.decide(&question);
    let holding = access.holding(&question);
    Ok(Json(DecisionDocument {
        allowed: verdict.allowed,
        decision: if verdict.allowed { "allow" } else { "deny" },
        rule: verdict.rule.map(str::to_owned),
        mode: mode.as_str(),
        holding: holding.into_iter().map(str::to_owned).collect(),
    }))
}
