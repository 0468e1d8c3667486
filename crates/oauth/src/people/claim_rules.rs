//! The table of claims that say more of a person than OpenID Connect's standard ones: which claim,
//! from what, in which form, and where it goes.
//!
//! A rule is one row, and says all of it by its columns; there is no language to write programs in.
//! Tables hang on what asks for them: a scope's rows hold for whoever was granted the scope, a
//! client's for its own tokens, a resource server's for access tokens that are meant for it.
//!
//! A row is held to a size when it is written ([`MAX_CLAIM_BYTES`]): how long its claim can become
//! follows from its columns. It cannot name a claim that the protocol gives a meaning to
//! ([`RESERVED`]), and a standard claim (OpenID Connect Core section 5.1) only with the value that
//! the claim has anyway.
use crate::issued::names::AccessTokenFormat;
use crate::people::{
    AttributeType, Fault, MAX_ATTRIBUTE_TOTAL_BYTES, MAX_NAME_BYTES, People, check_group_name,
    standard_claims,
};
use signet_encoding::json::{self, Limits, Object, Value, Writer};

/// Most rows of one table.
pub const MAX_RULES: usize = 32;
/// The longest claim that a row may come to, in bytes of JSON; and the most that all mapped claims
/// of one token or answer take together.
pub const MAX_CLAIM_BYTES: usize = 6144;
/// The longest row, in bytes of JSON.
pub const MAX_RULE_BYTES: usize = 4096;
/// Most names on the way to a nested claim.
const MAX_PATH: usize = 4;
/// The longest of these names, and of the texts of a row, in bytes.
const MAX_TEXT_BYTES: usize = 128;
/// Most pairs of `values`.
const MAX_VALUES: usize = 32;
/// Most entries of a list, where the row does not say.
const LIST_ENTRIES: usize = 90;
/// Most roles of all clients, where the row does not say: each stands with its client's name.
const BY_CLIENT_ENTRIES: usize = 28;
/// What JSON adds to an entry of a list: quotes and a comma.
const PUNCTUATION: usize = 3;
/// The most that a client's name adds to a role, in `resource_access`.
const CLIENT_BYTES: usize = 128 + 16;

/// Claims that mean something to who reads tokens and answers: RFC 7519, RFC 9068, RFC 7662, RFC
/// 8693, RFC 7800, OpenID Connect Core and Back-Channel Logout, and what Signet itself writes.
pub const RESERVED: &[&str] = &[
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "iat",
    "jti",
    "client_id",
    "scope",
    "cnf",
    "act",
    "may_act",
    "auth_time",
    "acr",
    "amr",
    "azp",
    "nonce",
    "at_hash",
    "c_hash",
    "s_hash",
    "sid",
    "sub_jwk",
    "events",
    "active",
    "token_type",
    "typ",
    "htm",
    "htu",
    "ath",
    "token_introspection",
    "claims",
    "_claim_names",
    "_claim_sources",
    "authorization_details",
    "agent_grants",
    "grant_id",
    "subject_jtis",
    "omitted_claims",
];

/// Claims that mean something to who reads tokens and answers, and that tables of earlier versions
/// may have: introspection's `username` (RFC 7662 section 2.2), and `sub_id` (RFC 9493). A table
/// with one is refused when it is written, and a row at rest gives nothing.
pub const RESERVED_LATER: &[&str] = &["username", "sub_id"];

/// What a claim goes into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The ID token.
    IdToken,
    /// The userinfo answer.
    Userinfo,
    /// The access token.
    AccessToken,
    /// The introspection answer.
    Introspection,
}
crate::issued::names::wire_names!(Target {
    IdToken = "id_token",
    Userinfo = "userinfo",
    AccessToken = "access_token",
    Introspection = "introspection",
});

/// Whose table it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableOf {
    /// A scope's.
    Scope,
    /// A client's.
    Client,
    /// A resource server's: for access tokens and what is said of them.
    Resource,
}

impl TableOf {
    /// Where a row's claim goes that does not say: everywhere that it can.
    const fn targets(self) -> &'static [Target] {
        match self {
            TableOf::Scope | TableOf::Client => Target::ALL,
            TableOf::Resource => &[Target::AccessToken, Target::Introspection],
        }
    }
}

/// Where a claim's value comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// An attribute of the schema.
    Attribute(String),
    /// A standard claim, under whatever name.
    Profile(String),
    /// The names of the person's groups.
    Groups,
    /// The names of the person's roles of the realm.
    Roles,
    /// The short names of their roles of a client: of the one that the token is for, where none is
    /// named.
    ClientRoles(Option<String>),
    /// Their roles of every client: an object with a member for each client, whose member `roles`
    /// lists them.
    RolesByClient,
    /// The same text for everybody.
    Value(String),
}

/// The form of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the source has it: groups and roles are lists, an attribute has its type.
    Natural,
    /// A list.
    List,
    /// One text: the first.
    String,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRule {
    /// The row as it was written, as JSON.
    text: String,
    /// The names from the outside in.
    pub claim: Vec<String>,
    /// Where its value comes from.
    pub from: Source,
    /// Its form.
    pub form: Form,
    /// Where it goes; none: everywhere that the table can.
    to: Option<Vec<Target>>,
    /// Of groups and roles: only names that begin so.
    pub prefix: Option<String>,
    /// Only these names, and what each is called; in the order in which the first is looked for.
    pub values: Vec<(String, String)>,
    /// What it is where there is nothing else.
    pub default: Option<String>,
    /// Of a list: with more it is left out.
    pub at_most: usize,
}

/// What a table of claims is usually needed for, by one word.
struct Preset {
    name: &'static str,
    claim: &'static [&'static str],
    from: Source,
}

static PRESETS: [Preset; 4] = [
    Preset {
        name: "groups",
        claim: &["groups"],
        from: Source::Groups,
    },
    Preset {
        name: "roles",
        claim: &["roles"],
        from: Source::Roles,
    },
    Preset {
        name: "realm_access.roles",
        claim: &["realm_access", "roles"],
        from: Source::Roles,
    },
    Preset {
        name: "resource_access",
        claim: &["resource_access"],
        from: Source::RolesByClient,
    },
];

const _: () = assert!(
    MAX_ATTRIBUTE_TOTAL_BYTES + 64 * PUNCTUATION <= MAX_CLAIM_BYTES,
    "every attribute fits a claim"
);

const LIMITS: Limits = Limits {
    bytes: MAX_RULES * MAX_RULE_BYTES,
    depth: 6,
    members: 4096,
};

/// A table from its JSON text: an array of rows.
///
/// # Errors
/// What is wrong with it.
pub fn parse(text: &[u8], of: TableOf) -> Result<Vec<ClaimRule>, Fault> {
    match json::parse(text, &LIMITS) {
        Ok(value) => read(&value, of),
        Err(_) => Err("claims must be a list of rows, and not longer than 32 of them"),
    }
}

/// A table from its JSON value.
///
/// # Errors
/// What is wrong with it.
pub fn read(value: &Value<'_>, of: TableOf) -> Result<Vec<ClaimRule>, Fault> {
    let rows = value.as_array().ok_or("claims must be a list of rows")?;
    if rows.len() > MAX_RULES {
        return Err("claims has more than 32 rows");
    }
    let rules: Vec<ClaimRule> = rows
        .iter()
        .map(|row| ClaimRule::read(row, of))
        .collect::<Result<_, _>>()?;
    for (i, rule) in rules.iter().enumerate() {
        let overlaps = |other: &ClaimRule| {
            let shorter = rule.claim.len().min(other.claim.len());
            rule.claim[..shorter] == other.claim[..shorter]
                && of
                    .targets()
                    .iter()
                    .any(|to| rule.goes_to(*to, of) && other.goes_to(*to, of))
        };
        if rules[..i].iter().any(overlaps) {
            return Err("two rows of claims give one claim: each needs a name of its own");
        }
    }
    Ok(rules)
}

/// Writes a table as it was written.
pub fn write(rules: &[ClaimRule], w: &mut Writer<'_>) {
    w.array(|w| rules.iter().for_each(|rule| w.raw(rule.text.as_bytes())));
}

/// The JSON text of a table.
pub fn to_json(rules: &[ClaimRule]) -> String {
    let mut out = Vec::new();
    write(rules, &mut Writer::new(&mut out));
    String::from_utf8_lossy(&out).into_owned()
}

/// What the rows of a table must be, besides each for itself: attributes that the schema has, and
/// claims that its access tokens can carry, where it says their format.
///
/// # Errors
/// What is wrong.
pub fn check(
    rules: &[ClaimRule],
    of: TableOf,
    people: Option<&People>,
    format: Option<AccessTokenFormat>,
) -> Result<(), Fault> {
    let bound = format.and_then(AccessTokenFormat::max_claim_bytes);
    for rule in rules {
        if rule.is_reserved_later() {
            return Err(
                "this claim has a meaning in the protocol, and cannot be mapped over (username, sub_id)",
            );
        }
        let attribute = match (&rule.from, people) {
            (Source::Attribute(name), Some(people)) => Some(
                people
                    .attributes
                    .get(name)
                    .ok_or("claims names an attribute that the schema does not have")?,
            ),
            (
                Source::Attribute(_)
                | Source::Profile(_)
                | Source::Groups
                | Source::Roles
                | Source::ClientRoles(_)
                | Source::RolesByClient
                | Source::Value(_),
                _,
            ) => None,
        };
        let longest = match attribute {
            Some(attribute) if attribute.kind == AttributeType::List => {
                attribute.longest() + PUNCTUATION * attribute.max_items
            }
            Some(attribute) => attribute.longest() + PUNCTUATION,
            // How long it is, the schema says.
            None if matches!(rule.from, Source::Attribute(_)) => 0,
            None => rule.longest(),
        };
        let carried = rule.goes_to(Target::AccessToken, of);
        if carried && bound.is_some_and(|bound| longest > bound) {
            return Err(
                "claims has one that can become longer than 2048 bytes, which a compact access token cannot carry: lower at_most, or leave access_token out of in",
            );
        }
    }
    Ok(())
}

/// Writes the JSON Schema of a table into the open object.
pub fn write_schema(w: &mut Writer<'_>) {
    w.member("type").string("array");
    w.member("maxItems").number(MAX_RULES as u64);
    w.member("items").object(|w| {
        w.member("anyOf").array(|w| {
            w.object(|w| {
                w.member("type").string("string");
                w.member("enum")
                    .strings(PRESETS.iter().map(|preset| preset.name));
            });
            w.object(|w| {
                w.member("type").string("object");
                w.member("additionalProperties").bool(false);
                w.member("properties").object(|w| {
                    for (name, kind, doc) in COLUMNS {
                        w.member(name).object(|w| {
                            w.member("type").string(kind);
                            w.member("description").string(doc);
                        });
                    }
                });
            });
        });
    });
}

/// The columns of a row: (name, JSON type, description).
pub const COLUMNS: [(&str, &str, &str); 9] = [
    (
        "preset",
        "string",
        "`groups`, `roles`, `realm_access.roles` or `resource_access`: stands for claim and from.",
    ),
    (
        "claim",
        "string",
        "The claim's name. A dot leads into an object; \\. is a dot of the name.",
    ),
    (
        "from",
        "string",
        "`attribute:NAME`, `profile:CLAIM`, `groups`, `roles`, `client_roles`, `client_roles:CLIENT`, `roles_by_client` or `value:TEXT`.",
    ),
    (
        "as",
        "string",
        "`list` or `string` (the first). Default: as the source has it.",
    ),
    (
        "in",
        "array",
        "Of `id_token`, `userinfo`, `access_token`, `introspection`. Default: all that the table can.",
    ),
    (
        "prefix",
        "string",
        "Of groups and roles: only names that begin so.",
    ),
    (
        "values",
        "array",
        "Pairs `[NAME, VALUE]`: only these, and what each is called. As a string, the first pair that the person has.",
    ),
    ("default", "string", "The value where there is no other."),
    (
        "at_most",
        "integer",
        "Entries of a list. With more the claim is left out, and named in `omitted_claims`.",
    ),
];

impl ClaimRule {
    /// One row: the name of a preset, or an object of columns.
    fn read(value: &Value<'_>, of: TableOf) -> Result<ClaimRule, Fault> {
        let mut text = Vec::new();
        value.write(&mut text);
        let text = String::from_utf8(text).map_err(|_| "a row of claims is no text")?;
        if text.len() > MAX_RULE_BYTES {
            return Err("a row of claims is longer than 4096 bytes");
        }
        let empty = Object::new();
        let (preset, columns) = match value {
            Value::String(name) => (Some(preset(name)?), &empty),
            Value::Object(columns) => {
                let known = |name: &str| COLUMNS.iter().any(|(column, ..)| *column == name);
                if columns.iter().any(|(name, _)| !known(name)) {
                    return Err(
                        "a row of claims has preset, claim, from, as, in, prefix, values, default and at_most",
                    );
                }
                let named = columns.get("preset").map(|name| {
                    let name = name.as_str().ok_or("preset must be a text")?;
                    preset(name)
                });
                (named.transpose()?, columns)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                return Err("a row of claims is the name of a preset, or an object");
            }
        };
        let column = |name: &'static str, fault: Fault| match columns.get(name) {
            None => Ok(None),
            Some(value) => value
                .as_str()
                .filter(|text| fits(text))
                .map(Some)
                .ok_or(fault),
        };
        let (claim, from) = match preset {
            Some(preset) => {
                if columns.get("claim").is_some() || columns.get("from").is_some() {
                    return Err("preset stands for claim and from: leave them out");
                }
                let claim = preset.claim.iter().map(|name| (*name).to_owned());
                (claim.collect(), preset.from.clone())
            }
            None => {
                let claim = column("claim", "claim must be a short text")?;
                let from = column("from", "from must be a short text")?;
                (
                    path(claim.ok_or("a row of claims needs claim, or a preset")?)?,
                    source(from.ok_or("a row of claims needs from")?)?,
                )
            }
        };
        let form = match column("as", "as must be list or string")? {
            None => Form::Natural,
            Some("list") => Form::List,
            Some("string") => Form::String,
            Some(_) => return Err("as must be list or string"),
        };
        let at_most = match columns.get("at_most") {
            None if from == Source::RolesByClient => BY_CLIENT_ENTRIES,
            None => LIST_ENTRIES,
            Some(value) => value
                .as_u64()
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| (1..=1000).contains(n))
                .ok_or("at_most must be from 1 to 1000")?,
        };
        let rule = ClaimRule {
            text,
            claim,
            from,
            form,
            to: columns.get("in").map(|to| targets(to, of)).transpose()?,
            prefix: column("prefix", "prefix must be a short text")?.map(str::to_owned),
            values: columns.get("values").map_or(Ok(Vec::new()), pairs)?,
            default: column("default", "default must be a short text")?.map(str::to_owned),
            at_most,
        };
        rule.check_itself()?;
        Ok(rule)
    }

    /// Whether the claim is one of [`RESERVED_LATER`].
    pub(crate) fn is_reserved_later(&self) -> bool {
        self.claim
            .first()
            .is_some_and(|first| RESERVED_LATER.contains(&first.as_str()))
    }

    fn check_itself(&self) -> Result<(), Fault> {
        let [first, ..] = &self.claim[..] else {
            return Err("claim must be a name");
        };
        if RESERVED.contains(&first.as_str()) {
            return Err(
                "this claim has a meaning in the protocol, and cannot be mapped over (iss, sub, aud, exp, cnf, act and the like)",
            );
        }
        let same = |name: &String| self.claim.len() == 1 && name == first;
        if standard_claims::is_standard(first)
            && !matches!(&self.from, Source::Profile(name) if same(name))
        {
            return Err(
                "a standard claim has the value of the person's record: only from profile: and its own name",
            );
        }
        let named = self.from.is_named();
        if !named && (self.prefix.is_some() || !self.values.is_empty()) {
            return Err("prefix and values are for groups and roles");
        }
        if self.default.is_some() && self.form != Form::String {
            return Err("default is for as = string");
        }
        if matches!(self.from, Source::RolesByClient)
            && (self.form != Form::Natural || !self.values.is_empty() || self.prefix.is_some())
        {
            return Err("roles_by_client is an object: it has no as, prefix or values");
        }
        if !matches!(self.from, Source::Attribute(_)) && self.longest() > MAX_CLAIM_BYTES {
            return Err("this claim can become longer than 6144 bytes: lower at_most");
        }
        Ok(())
    }

    /// Bytes of the longest value, an attribute's aside, whose schema says it.
    fn longest(&self) -> usize {
        let of_values = || {
            self.values
                .iter()
                .map(|(_, value)| value.len() + PUNCTUATION)
        };
        let default = self.default.as_ref().map_or(0, String::len) + PUNCTUATION;
        match &self.from {
            Source::Attribute(_) => MAX_ATTRIBUTE_TOTAL_BYTES,
            // Profile values have 1024 bytes at the most.
            Source::Profile(_) => 1024 + PUNCTUATION,
            Source::Value(text) => text.len() + PUNCTUATION,
            Source::RolesByClient => self.at_most * (MAX_NAME_BYTES + PUNCTUATION + CLIENT_BYTES),
            Source::Groups | Source::Roles | Source::ClientRoles(_) => {
                match (self.form, self.values.is_empty()) {
                    (Form::String, true) => default.max(MAX_NAME_BYTES + PUNCTUATION),
                    (Form::String, false) => of_values().max().unwrap_or(0).max(default),
                    (Form::Natural | Form::List, true) => {
                        self.at_most * (MAX_NAME_BYTES + PUNCTUATION)
                    }
                    (Form::Natural | Form::List, false) => of_values().sum(),
                }
            }
        }
    }

    /// Whether its claim goes there.
    pub fn goes_to(&self, target: Target, of: TableOf) -> bool {
        match &self.to {
            None => of.targets().contains(&target),
            Some(to) => to.contains(&target),
        }
    }

    /// The outermost name.
    pub fn name(&self) -> &str {
        self.claim.first().map_or("", String::as_str)
    }
}

impl Source {
    /// Whether it gives names of groups or roles.
    fn is_named(&self) -> bool {
        match self {
            Source::Groups | Source::Roles | Source::ClientRoles(_) | Source::RolesByClient => true,
            Source::Attribute(_) | Source::Profile(_) | Source::Value(_) => false,
        }
    }
}

/// The built-in scope `groups`: one row, the preset of its name.
pub fn groups() -> Vec<ClaimRule> {
    // Invariant: the preset is in the table.
    parse(br#"["groups"]"#, TableOf::Scope).unwrap_or_default()
}

fn fits(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT_BYTES + 16 && !text.chars().any(char::is_control)
}

fn preset(name: &str) -> Result<&'static Preset, Fault> {
    PRESETS
        .iter()
        .find(|preset| preset.name == name)
        .ok_or("a preset is groups, roles, realm_access.roles or resource_access")
}

/// The names of a path: a dot parts them, and is a dot behind a backslash.
fn path(text: &str) -> Result<Vec<String>, Fault> {
    let mut names = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let last = names.len() - 1;
        match letter {
            '.' => names.push(String::new()),
            '\\' => match letters.next() {
                Some('.') => names[last].push('.'),
                Some(_) | None => return Err("in claim, a backslash stands before a dot"),
            },
            letter => names[last].push(letter),
        }
    }
    let one = |name: &String| {
        !name.is_empty() && name.len() <= MAX_TEXT_BYTES && !name.contains(['"', ' '])
    };
    match names.len() <= MAX_PATH && names.iter().all(one) {
        true => Ok(names),
        false => Err("claim is one to four names, parted by dots, without quotes and spaces"),
    }
}

fn source(text: &str) -> Result<Source, Fault> {
    let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    let missing: Fault = "from needs a name behind the colon";
    match text.split_once(':') {
        None => match text {
            "groups" => Ok(Source::Groups),
            "roles" => Ok(Source::Roles),
            "client_roles" => Ok(Source::ClientRoles(None)),
            "roles_by_client" => Ok(Source::RolesByClient),
            _ => Err(
                "from is attribute:NAME, profile:CLAIM, groups, roles, client_roles, client_roles:CLIENT, roles_by_client or value:TEXT",
            ),
        },
        Some(("attribute", name)) => named(name).map(Source::Attribute).ok_or(missing),
        Some(("client_roles", id)) => named(id)
            .map(|id| Source::ClientRoles(Some(id)))
            .ok_or(missing),
        Some(("value", text)) => named(text).map(Source::Value).ok_or(missing),
        Some(("profile", name)) => standard_claims::is_standard(name)
            .then(|| Source::Profile(name.to_owned()))
            .ok_or("profile: is followed by a standard claim (OpenID Connect Core section 5.1)"),
        Some(_) => Err(
            "from is attribute:NAME, profile:CLAIM, groups, roles, client_roles, client_roles:CLIENT, roles_by_client or value:TEXT",
        ),
    }
}

fn targets(value: &Value<'_>, of: TableOf) -> Result<Vec<Target>, Fault> {
    let fault: Fault = "in is a list of id_token, userinfo, access_token and introspection";
    let names = value
        .as_array()
        .filter(|list| !list.is_empty())
        .ok_or(fault)?;
    let mut targets = Vec::with_capacity(names.len());
    for name in names {
        let target = name.as_str().and_then(Target::from_name).ok_or(fault)?;
        if !of.targets().contains(&target) {
            return Err("a resource server's claims go into access_token and introspection only");
        }
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Ok(targets)
}

fn pairs(value: &Value<'_>) -> Result<Vec<(String, String)>, Fault> {
    let fault: Fault = "values is a list of pairs [NAME, VALUE], at most 32";
    let list = value.as_array().ok_or(fault)?;
    if list.is_empty() || list.len() > MAX_VALUES {
        return Err(fault);
    }
    list.iter()
        .map(|pair| match pair.as_array() {
            Some([name, value]) => {
                let (name, value) = (name.as_str().ok_or(fault)?, value.as_str().ok_or(fault)?);
                check_group_name(name)?;
                let fits = fits(value) && !value.contains(['"', '\\']);
                fits.then(|| (name.to_owned(), value.to_owned()))
                    .ok_or(fault)
            }
            Some(_) | None => Err(fault),
        })
        .collect()
}

#[cfg(test)]
mod tests;
