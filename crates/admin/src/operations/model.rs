//! What goes over the wire. Field names are the specifications' own; times are Unix seconds.
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use signet_directory::grants::GrantRow;
use signet_directory::session::SessionRow;
use signet_directory::{AcceptedTerms, CredentialKind, Deletion, Invitation, Profile, User, Value};
use signet_encoding::base64url;
use signet_encoding::json::Writer;
use signet_oauth::client::metadata::{MEMBERS, Member};
use signet_oauth::id::GrantId;
use signet_oauth::issued::session::Consent;
use signet_oauth::people::{People, Who};
use signet_oauth::registry::{Resource, ScopeEntry};
use signet_realm::records::groups;
use signet_registry::claim_tables::ClaimTable;
use signet_registry::keys::KeyInfo;
use std::{borrow::Cow, collections::BTreeMap};

/// A page of a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct List<T> {
    /// In a fixed order.
    pub(crate) items: Vec<T>,
    /// The `after` of the next page; none: this is the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl<T> List<T> {
    /// A page that was read with room for one more than `limit`, to see whether there is a next.
    pub(crate) fn cut(mut items: Vec<T>, limit: usize, id: impl Fn(&T) -> String) -> List<T> {
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(id);
        List { items, next }
    }
}

/// A client: RFC 7591 metadata and the operator's policy, as [`MEMBERS`] has them, and what the
/// server alone sets.
pub(crate) struct ClientDocument;

/// The members of the document that are not of the record's table: (name, JSON type, description).
const SERVER_SET: [(&str, &str, &str); 5] = [
    (
        "client_id",
        "string",
        "Chosen by the server where a new client has none. Read-only afterwards.",
    ),
    (
        "revision",
        "integer",
        "Read-only: the revision of the record.",
    ),
    ("created_at", "integer", "Read-only."),
    (
        "client_secret",
        "string",
        "Only in the answer that made it; never again.",
    ),
    ("subject_type", "string", "Always `public`."),
];

impl ClientDocument {
    /// Whether a client's document may have a member of this name.
    pub(crate) fn has(name: &str) -> bool {
        Member::named(name).is_some() || SERVER_SET.iter().any(|(known, ..)| *known == name)
    }

    /// Every member's name.
    pub(crate) fn names() -> Vec<&'static str> {
        let set = SERVER_SET.iter().map(|(name, ..)| *name);
        MEMBERS
            .iter()
            .map(|member| member.name)
            .chain(set)
            .collect()
    }
}

impl JsonSchema for ClientDocument {
    fn schema_name() -> Cow<'static, str> {
        "Client".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut out = Vec::with_capacity(8192);
        Writer::new(&mut out).object(|w| {
            w.member("type").string("object");
            w.member("description").string(
                "A client: RFC 7591 metadata and the operator's policy. Absent members are at their defaults.",
            );
            w.member("additionalProperties").bool(false);
            w.member("properties").object(|w| {
                for (name, kind, doc) in SERVER_SET {
                    w.member(name).object(|w| {
                        w.member("description").string(doc);
                        w.member("type").string(kind);
                    });
                }
                for member in MEMBERS {
                    member.write_schema(w.member(member.name));
                }
            });
        });
        // Invariant: the writer gives one JSON object.
        let value: serde_json::Value = serde_json::from_slice(&out).expect("a schema is JSON");
        Schema::try_from(value).expect("a schema is an object")
    }
}

/// Entries to add to and to remove from a list; what others changed meanwhile stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListChange {
    #[serde(default)]
    pub(crate) add: Vec<String>,
    #[serde(default)]
    pub(crate) remove: Vec<String>,
}

/// How a new secret is made.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NewSecret {
    /// Seconds for which the secrets before it go on; 0: they end now.
    pub(crate) others_expire_in: u64,
}

/// A secret that was just made. It is not shown again.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SecretShownOnce {
    pub(crate) client_id: String,
    pub(crate) client_secret: String,
}

/// A user.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "User")]
pub(crate) struct UserDocument {
    /// The `sub` of their tokens.
    pub(crate) id: String,
    pub(crate) username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) email: Option<String>,
    pub(crate) email_verified: bool,
    /// May administer.
    pub(crate) admin: bool,
    /// Roles of administrators: those that every realm has, and its own.
    pub(crate) admin_roles: Vec<String>,
    pub(crate) enabled: bool,
    pub(crate) has_password: bool,
    /// The next login has to set a new password first.
    pub(crate) must_change_password: bool,
    /// Unix seconds from which the account is as a disabled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<u64>,
    /// The invitation that the person has not accepted yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) invitation: Option<Invitation>,
    /// Somebody was invited to take the account over, and has not: its address opens nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) awaits_person: bool,
    /// The next login has to accept the terms first, where there are any.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) must_accept_terms: bool,
    /// The terms that the person has accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) terms: Option<AcceptedTerms>,
    /// The account is to be erased; until then it is as a disabled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deletion: Option<Deletion>,
    /// The directory that keeps name, address, profile and password, where the account is that of a
    /// person from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) directory: Option<String>,
    pub(crate) created_at: u64,
    pub(crate) updated_at: u64,
    pub(crate) profile: Profile,
    /// Names of the groups that they were put into.
    pub(crate) groups: Vec<String>,
    /// Whole names of the roles that they were given; those of their groups aside.
    pub(crate) roles: Vec<String>,
    /// By the schema: those that administrators may read.
    pub(crate) attributes: BTreeMap<String, Value>,
    /// Names of attributes whose value nobody vouches for yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unverified_attributes: Vec<String>,
}

impl UserDocument {
    pub(crate) fn new(user: User, people: &People) -> UserDocument {
        let mut groups = groups::group_names(people, &user.groups);
        groups.extend_from_slice(&user.groups_outside);
        let shown = |name: &str| {
            let attribute = people.attributes.get(name);
            attribute.is_some_and(|attribute| attribute.read != Who::Nobody)
        };
        let attributes = user.attributes.iter().filter(|(name, _)| shown(name));
        UserDocument {
            admin_roles: user.roles_of_administrator(),
            groups,
            roles: groups::role_names(people, &user.roles),
            unverified_attributes: attributes
                .clone()
                .filter(|(_, stored)| !stored.verified)
                .map(|(name, _)| name.clone())
                .collect(),
            attributes: attributes
                .map(|(name, stored)| (name.clone(), stored.value.clone()))
                .collect(),
            has_password: user.has(CredentialKind::Password),
            must_change_password: user.must_change_password,
            expires_at: user.expires_at,
            invitation: user.invitation,
            awaits_person: user.awaits_its_person(),
            must_accept_terms: user.must_accept_terms,
            terms: user.terms,
            deletion: user.deletion,
            directory: user.link.map(|link| link.directory),
            id: user.id,
            username: user.username,
            email: user.email,
            email_verified: user.email_verified,
            admin: user.admin,
            enabled: user.enabled,
            created_at: user.created_at,
            updated_at: user.updated_at,
            profile: user.profile,
        }
    }
}

/// An account to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUserDocument {
    pub(crate) username: String,
    #[serde(default)]
    pub(crate) email: Option<String>,
    /// The address is known to be theirs.
    #[serde(default)]
    pub(crate) email_verified: bool,
    /// None: login by e-mailed code only.
    #[serde(default)]
    pub(crate) password: Option<String>,
    /// The password is temporary: the first login has to set another.
    #[serde(default)]
    pub(crate) temporary: bool,
    /// Unix seconds from which the account is as a disabled one.
    #[serde(default)]
    pub(crate) expires_at: Option<u64>,
    #[serde(default)]
    pub(crate) admin: bool,
    /// Roles of administrators: `owner`, `security`, `people`, `clients`, `auditor`, `help-desk`,
    /// and the realm's own. Left out: `owner` for who is made an administrator, else as they are.
    #[serde(default)]
    pub(crate) admin_roles: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) profile: Profile,
}

/// What of a user is replaced. User name and address have operations of their own.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserChange {
    pub(crate) admin: bool,
    /// Roles of administrators: `owner`, `security`, `people`, `clients`, `auditor`, `help-desk`,
    /// and the realm's own. Left out: `owner` for who is made an administrator, else as they are.
    #[serde(default)]
    pub(crate) admin_roles: Option<Vec<String>>,
    pub(crate) enabled: bool,
    pub(crate) profile: Profile,
    /// Whether the next login has to set a new password; as it is unless given.
    #[serde(default)]
    pub(crate) must_change_password: Option<bool>,
    /// Unix seconds from which the account is as a disabled one; 0: never; as it is unless given.
    #[serde(default)]
    pub(crate) expires_at: Option<u64>,
}

/// An e-mail address, or none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmailChange {
    pub(crate) email: Option<String>,
    #[serde(default)]
    pub(crate) verified: bool,
}

/// A password, or none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PasswordChange {
    pub(crate) password: Option<String>,
    /// The next login has to set another.
    #[serde(default)]
    pub(crate) temporary: bool,
}

/// A login session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Session")]
pub(crate) struct SessionDocument {
    pub(crate) sid: String,
    pub(crate) auth_time: u64,
    pub(crate) acr: String,
    pub(crate) amr: Vec<String>,
    pub(crate) created_at: u64,
    pub(crate) last_seen: u64,
    pub(crate) ends_at: u64,
    pub(crate) user_agent: String,
    pub(crate) address: String,
}

// The secret id of a session is not in its row, and so cannot get here.
impl From<SessionRow> for SessionDocument {
    fn from(row: SessionRow) -> SessionDocument {
        SessionDocument {
            sid: row.sid,
            auth_time: row.auth_time,
            acr: row.acr,
            amr: row.amr,
            created_at: row.created_at,
            last_seen: row.last_seen,
            ends_at: row.ends_at,
            user_agent: row.user_agent,
            address: row.address,
        }
    }
}

/// What a user has granted to a client.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Grant")]
pub(crate) struct GrantDocument {
    pub(crate) grant_id: String,
    pub(crate) client_id: String,
    pub(crate) scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sid: Option<String>,
    pub(crate) created_at: u64,
}

impl GrantDocument {
    pub(crate) fn new(id: &GrantId, row: GrantRow) -> GrantDocument {
        GrantDocument {
            grant_id: base64url::encode(id.as_bytes()),
            client_id: row.client_id,
            scope: row.scope,
            sid: row.sid,
            created_at: row.created_at,
        }
    }
}

/// What a user has agreed to for a client.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Consent")]
pub(crate) struct ConsentDocument {
    pub(crate) client_id: String,
    pub(crate) scope: String,
    pub(crate) claims: Vec<String>,
    pub(crate) granted_at: u64,
}

impl ConsentDocument {
    pub(crate) fn new(client_id: String, consent: Consent) -> ConsentDocument {
        ConsentDocument {
            client_id,
            scope: consent.scope.to_string(),
            claims: consent.claims,
            granted_at: consent.granted_at,
        }
    }
}

/// A signing key; never its private half.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SigningKey")]
pub(crate) struct KeyDocument {
    pub(crate) kid: String,
    /// A JOSE algorithm; `compact-...`: the key of compact tokens.
    pub(crate) alg: &'static str,
    /// `standby`, `active` or `retired`
    pub(crate) phase: &'static str,
    pub(crate) created_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) active_from: Option<u64>,
    /// A standby key signs from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) signs_from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retired_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ends_at: Option<u64>,
    /// The next key takes over as soon as it has been published for long enough.
    pub(crate) rotates_soon: bool,
}

impl From<KeyInfo> for KeyDocument {
    fn from(key: KeyInfo) -> KeyDocument {
        KeyDocument {
            kid: key.kid,
            alg: key.kind.name(),
            phase: key.phase.as_str(),
            created_at: key.created_at,
            active_from: key.active_from,
            signs_from: key.signs_from,
            retired_at: key.retired_at,
            ends_at: key.ends_at,
            rotates_soon: key.rotates_soon,
        }
    }
}

/// Which keys are rotated, and how.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rotation {
    /// One `alg` of the list of keys; none: all.
    pub(crate) alg: Option<String>,
    /// Somebody else may have the active key: it is withdrawn at once, with every token that it
    /// signed.
    pub(crate) compromised: bool,
    /// With `compromised`: the standby keys are withdrawn, too.
    pub(crate) standby_too: bool,
}

/// What was sealed again.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SealingRotation {
    /// Signing keys.
    pub(crate) signing_keys: usize,
    /// Clients whose secrets rest sealed.
    pub(crate) clients: usize,
    /// Sealing keys that are left, the new one included.
    pub(crate) sealing_keys: usize,
}

/// What is revoked everywhere: one of the first five, or everything of the issuer.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RevokeEverywhere {
    /// Everything of a user: sessions, grants and tokens.
    pub(crate) user: Option<String>,
    /// Everything of a client.
    pub(crate) client: Option<String>,
    /// Every token that an agent acts in.
    pub(crate) agent: Option<String>,
    /// Every token that was issued under a delegation of an agent's chain, by its id.
    pub(crate) delegation: Option<String>,
    /// A login session (`sid`), and every token that was issued in it.
    pub(crate) session: Option<String>,
    /// Only what was issued before this moment, Unix seconds. Alone: of everybody.
    pub(crate) before: Option<u64>,
}

/// Who has it in effect.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RevokedEverywhere {
    /// The nodes, the answering one first, each with the time that it took.
    pub(crate) nodes: Vec<Confirmed>,
    /// Nodes that could not be reached. They have it when they can be reached again; what they do
    /// until then, `cluster.staleness` says.
    pub(crate) unreachable: Vec<String>,
    /// Readers of the stream of revocations that acknowledged it.
    pub(crate) readers: Vec<Confirmed>,
    /// Readers that did not acknowledge it in time.
    pub(crate) unheard: Vec<UnheardReader>,
}

/// Who has it in effect, and after how long.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Confirmed {
    /// A node, or a client.
    pub(crate) name: String,
    /// Milliseconds.
    pub(crate) ms: f64,
}

impl Confirmed {
    pub(crate) fn new(name: &str, after: std::time::Duration) -> Confirmed {
        Confirmed {
            name: name.to_owned(),
            // To the microsecond.
            ms: (after.as_secs_f64() * 1e6).round() / 1e3,
        }
    }
}

/// A reader that did not acknowledge.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UnheardReader {
    /// The node whose stream it reads.
    pub(crate) node: String,
    /// The client; none: the node did not say what its readers have.
    pub(crate) client_id: Option<String>,
}

/// Who is let in.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct InviteNode {
    /// How long the token can be used, seconds: 10 to 86400; 600 unless given.
    pub(crate) expires_in: Option<u64>,
}

/// Where the store's rows go.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MoveStore {
    /// sqlite:DIR or postgres://USER@HOST/DATABASE, empty, as the server reaches it. A password
    /// comes from a password file.
    pub(crate) to: String,
}

/// An invitation.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NodeInvitation {
    /// One line, for `signet serve --join`. Single-use, and a secret until it is used.
    pub(crate) token: String,
    /// Unix seconds.
    pub(crate) expires_at: u64,
}

/// A resource server.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Resource")]
pub(crate) struct ResourceDocument {
    pub(crate) identifier: String,
    pub(crate) revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Separated by spaces; empty: every scope may be asked for.
    pub(crate) scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_token_signed_response_alg: Option<String>,
    /// `jwt` or `compact`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_token_format: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_token_lifetime: Option<u64>,
    /// Clients that may introspect tokens for this resource.
    pub(crate) introspectors: Vec<String>,
    /// What access tokens that are meant for it say of the person.
    #[serde(skip_serializing_if = "ClaimTable::is_empty")]
    pub(crate) claims: ClaimTable,
}

/// What of a resource server can be written. What was shown can be written back: identifier and
/// revision are read-only.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ResourceChange {
    /// Read-only.
    pub(crate) identifier: Option<String>,
    /// Read-only.
    #[serde(rename = "revision")]
    _revision: Option<u64>,
    pub(crate) name: Option<String>,
    /// Separated by spaces; empty: every scope may be asked for.
    pub(crate) scope: String,
    pub(crate) access_token_signed_response_alg: Option<String>,
    /// `jwt` or `compact`; none: `jwt`
    pub(crate) access_token_format: Option<String>,
    /// Seconds.
    pub(crate) access_token_lifetime: Option<u64>,
    /// Clients that may introspect tokens for this resource.
    pub(crate) introspectors: Vec<String>,
    /// What access tokens that are meant for it say of the person.
    pub(crate) claims: ClaimTable,
}

impl From<&Resource> for ResourceDocument {
    fn from(resource: &Resource) -> ResourceDocument {
        let algorithm = resource.access_token_signed_response_alg;
        ResourceDocument {
            identifier: resource.identifier.clone(),
            revision: resource.revision,
            name: resource.name.clone(),
            scope: resource.scopes.to_string(),
            access_token_signed_response_alg: algorithm.map(|a| a.name().to_owned()),
            access_token_format: resource.access_token_format.map(|f| f.as_str().to_owned()),
            access_token_lifetime: resource.access_token_lifetime,
            introspectors: resource.introspectors.clone(),
            claims: ClaimTable::new(&resource.claims),
        }
    }
}

/// A scope.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Scope")]
pub(crate) struct ScopeDocument {
    pub(crate) name: String,
    /// What a consent page says.
    pub(crate) description: String,
    /// The same, to those who read these languages: the tag of a language (RFC 5646), and its text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) descriptions: BTreeMap<String, String>,
    /// Listed in the metadata.
    pub(crate) published: bool,
    /// The claims that it gives, beside those of OpenID Connect Core section 5.4.
    #[serde(skip_serializing_if = "ClaimTable::is_empty")]
    pub(crate) claims: ClaimTable,
}

impl From<&ScopeEntry> for ScopeDocument {
    fn from(entry: &ScopeEntry) -> ScopeDocument {
        ScopeDocument {
            name: entry.name.clone(),
            description: entry.description.clone(),
            descriptions: entry.descriptions.texts().clone(),
            published: entry.published,
            claims: ClaimTable::new(&entry.claims),
        }
    }
}

/// What of a scope can be written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScopeChange {
    pub(crate) description: String,
    /// The same in other languages, by their tags (RFC 5646). Left out: those that it had before.
    #[serde(default)]
    pub(crate) descriptions: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pub(crate) published: bool,
    /// The claims that it gives. Left out: those that it gave before.
    #[serde(default)]
    pub(crate) claims: Option<ClaimTable>,
}
