//! What goes over the wire.
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use signet_operation::facts::{Described, schema_of};
use signet_operation::input::Input;
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_request::http::Context;

/// Most objects of a directory
pub const MAX_DECLARED: usize = 1000;
/// Largest body of a directory's declarations, in bytes
pub(crate) const MAX_DECLARATIONS_BYTES: usize = 4 << 20;
/// Longest name of a directory, in bytes
pub(crate) const MAX_DIRECTORY_BYTES: usize = 64;

/// What a directory declares, whole.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Declarations {
    /// The directory's name, under which it owns what it declares.
    pub(crate) directory: String,
    /// At most 1000.
    pub(crate) objects: Vec<Object>,
    /// Remove what the directory owned before and declares no more.
    #[serde(default)]
    pub(crate) prune: bool,
    /// Remove these of the directory, whether or not the rest of what it owns is declared here.
    /// What is not there is removed already.
    #[serde(default)]
    pub(crate) remove: Vec<Named>,
    /// Take over objects that were made by hand.
    #[serde(default)]
    pub(crate) adopt: bool,
    /// For apply: the `plan` of the plan that was seen. Another one is a conflict, and nothing is
    /// done.
    #[serde(default)]
    pub(crate) plan: Option<String>,
    /// For a directory that is watched: whether it has changed since it was last applied.
    #[serde(default)]
    pub(crate) watch: Option<Watch>,
}

/// What somebody who watches a directory knows of it.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Watch {
    /// It has changed, or is applied for the first time.
    Changed,
    /// It is as it was when it was last applied: what the server differs by is drift.
    Unchanged,
}

/// An object that is declared.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Object {
    /// `client`, `group`, ...
    pub(crate) kind: String,
    pub(crate) name: String,
    /// As the admin API has them. What is left out is at its default.
    pub(crate) members: Map<String, Value>,
    /// Its client secret or first password. Never shown.
    #[serde(default)]
    pub(crate) secret: Option<String>,
}

/// Declarations as they were sent, which may be many.
pub(crate) struct Sent(pub(crate) Declarations);

impl Input for Sent {
    fn describe(described: &mut Described, generator: &mut SchemaGenerator) {
        described.request = Some(schema_of::<Declarations>()(generator));
    }

    async fn read(context: &mut Context) -> Result<Sent, Problem> {
        // Read once the caller is known to be allowed.
        context.body_limit = context.body_limit.max(MAX_DECLARATIONS_BYTES);
        let Json(wanted) = <Json<Declarations> as Input>::read(context).await?;
        if wanted.objects.len() + wanted.remove.len() > MAX_DECLARED {
            return Err(Problem::invalid("a directory has at most 1000 objects"));
        }
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
        let name = &wanted.directory;
        match (1..=MAX_DIRECTORY_BYTES).contains(&name.len()) && name.bytes().all(fits) {
            true => Ok(Sent(wanted)),
            false => Err(Problem::invalid(
                "the directory's name must be 1 to 64 letters, digits and any of -._",
            )),
        }
    }
}

/// What would change, or was changed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Plan")]
pub(crate) struct PlanDocument {
    /// Names this very plan.
    pub(crate) plan: String,
    pub(crate) changes: Vec<ChangeDocument>,
    pub(crate) ends: Ends,
    /// What the directory owned before and declares no more; it stays without `prune`.
    pub(crate) left: Vec<Named>,
    /// Why the plan cannot be applied; nothing of it is then.
    pub(crate) mistakes: Vec<Mistake>,
}

/// What a change does.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Act {
    Add,
    Change,
    Remove,
}

impl Act {
    /// What the audit trail calls it.
    pub(crate) const fn operation(self) -> &'static str {
        match self {
            Act::Add => "addDeclared",
            Act::Change => "changeDeclared",
            Act::Remove => "removeDeclared",
        }
    }
}

/// An object that changes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PlannedChange")]
pub(crate) struct ChangeDocument {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) act: Act,
    pub(crate) members: Vec<MemberChange>,
}

/// A member that changes. A secret has no values.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MemberChange {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Value>,
}

/// Whose sessions, grants and tokens are revoked.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct Ends {
    /// Clients that are removed or disabled: everything that was issued to them.
    pub(crate) clients: Vec<String>,
    /// Users that are removed or disabled, or who may administer no more: everything of theirs.
    pub(crate) users: Vec<String>,
    /// How much ends, by the object that it ends with. What ends with two objects is counted with
    /// both. Access tokens of clients alone are kept nowhere, and not counted.
    pub(crate) counted: Vec<Ending>,
}

/// Why something ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// The client, user or realm is removed.
    Removed,
    /// The client or user is disabled.
    Disabled,
    /// The user may administer no more.
    Demoted,
    /// The realm answers nothing; it keeps everything.
    Suspended,
    /// People are in the group no more, or do not have the role; or a user has fewer of them.
    Lost,
    /// The client may not refresh any more. Its access tokens are valid until they expire.
    CannotRefresh,
}

/// What ends with one object. What is left out is none; of a realm that could not be opened
/// nothing is counted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Ending {
    /// `client`, `user`, `group`, `role` or `realm`
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) why: Why,
    /// Whose grants they are; of a realm, its accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) people: Option<CountedDocument>,
    /// Login sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sessions: Option<CountedDocument>,
    /// What people have granted to clients: each with its refresh tokens and access tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grants: Option<CountedDocument>,
    /// Remembered consents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) consents: Option<CountedDocument>,
    /// Identities of agents that people bound to their accounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agents: Option<CountedDocument>,
}

/// A number of things, counted as far as 10,000.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[schemars(rename = "Counted")]
pub(crate) struct CountedDocument {
    pub(crate) count: usize,
    /// There are, or may be, more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) more: bool,
}

/// An object by its name.
#[derive(Clone, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
pub(crate) struct Named {
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// What is wrong with an object.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Mistake {
    pub(crate) kind: String,
    pub(crate) name: String,
    /// The member of it that is wrong, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) member: Option<String>,
    /// Stable, for programs.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) detail: String,
}

/// Everything that there is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Export {
    pub(crate) objects: Vec<Exported>,
}

/// An object as a directory declares it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Exported {
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    /// `hand`, `directory NAME`, `configuration`, `registration`, `SCIM` or `built in`
    pub(crate) owner: String,
    pub(crate) members: Map<String, Value>,
    /// It has a secret, which is never shown.
    pub(crate) has_secret: bool,
    /// Members that the server alone sets; of an object that is asked for by its name.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) set_by_server: Map<String, Value>,
}
