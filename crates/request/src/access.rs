//! May this person have this, now? The one question, and the entrances that ask it.
//!
//! An [`Entrance`] is a place where somebody gets something: a session, a code, a token, a mail
//! that lets them in. [`Entrance::asks`] is the table of what each of them asks ([`Rule`]); [`ask`]
//! is the function that they call. A token can be answered only with the [`Leave`] that it gives.
//! `crates/server/tests/entrances.rs` drives the table: every entrance against every rule.
//!
//! Access rules themselves are those of `signet-oauth`: here they are looked up, asked and
//! recorded. A realm without rules whose mode allows pays a look at both.
mod sought;

pub use sought::{Sought, classes};

use crate::http::Context;
use signet_audit::Event;
use signet_directory::User;
use signet_oauth::authorize::{ClaimsRequest, Entry, acr};
use signet_oauth::client::{Client, GrantType};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::people::access_rules::{Access, Origin, Question};
use signet_oauth::people::{Holdings, userinfo};
use signet_oauth::scope::ScopeSet;
use signet_oauth::token::decision::{Decision, Issue};
use signet_realm::state::Snapshot;
use std::net::IpAddr;

/// The variants of a table, each with its name in docs/accounts.md.
macro_rules! named {
    ($(#[$doc:meta])* $type:ident { $($(#[$of:meta])* $variant:ident = $name:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $type { $($(#[$of])* $variant),* }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];

            /// What docs/accounts.md calls it.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }
        }
    };
}

named!(/// Where somebody gets something.
Entrance {
    /// A session begins, by whatever methods.
    Login = "login",
    /// A session that is there answers.
    Session = "session",
    /// A code is mailed, and typed.
    MailedCode = "mailed code or link",
    /// A recovery link is mailed, and used.
    Recovery = "recovery",
    /// An invitation is accepted.
    Invitation = "invitation",
    /// Somebody signs up with the address of an account: its owner is notified by mail.
    SignUp = "sign-up with a known address",
    /// A provider's person is linked to the account that has their address.
    LinkByAddress = "link by a provider's address",
    /// A client gets a code.
    Authorization = "authorization",
    /// A person lets a device in.
    DeviceApproval = "approval of a device",
    /// A password gives a token of the command line.
    PasswordLogin = "`/password-login`",
    /// A code, or a device's, is redeemed.
    Redemption = "redemption of a code",
    /// A token is refreshed.
    Refresh = "refresh",
    /// A token, or a chain of agents' grants, is exchanged for one of this server.
    Exchange = "exchange",
    /// A token is exchanged for one of an identity provider.
    ProviderToken = "exchange for a provider's token",
    /// Claims are read with an access token.
    Userinfo = "userinfo",
    /// Claims are added to what a resource server learns of a token.
    Introspection = "introspected claims",
    /// A person's token calls the admin API.
    AdminApi = "admin API",
    /// A person's token calls SCIM.
    Scim = "SCIM",
});

named!(
    /// What the question is made of, in the order in which it is decided.
    Rule {
        /// No administrator has disabled the account.
        Enabled = "disabled",
        /// It has not expired.
        Lasting = "expired",
        /// It is not to be erased.
        Kept = "to be erased",
        /// Whoever was invited has taken it over.
        TakenOver = "not taken over",
        /// The password is the person's own, not a temporary one.
        OwnPassword = "temporary password",
        /// The realm's terms were accepted, where the account has to.
        Terms = "missing terms",
        /// The login reaches the classes that are demanded.
        Classes = "classes",
        /// Access rules let the person in.
        AccessRules = "access rules",
    }
);

impl Entrance {
    /// Whether this entrance asks this: the table.
    pub const fn asks(self, rule: Rule) -> bool {
        let (taken_over, owed, classes, access_rules) = match self {
            Entrance::Login => (true, true, true, false),
            Entrance::Session
            | Entrance::MailedCode
            | Entrance::Recovery
            | Entrance::SignUp
            | Entrance::LinkByAddress
            | Entrance::Userinfo
            | Entrance::Introspection => (true, false, false, false),
            // It is how an account is taken over.
            Entrance::Invitation => (false, false, false, false),
            // What is owed is asked for when the session begins.
            Entrance::Authorization | Entrance::DeviceApproval => (true, false, true, true),
            Entrance::PasswordLogin => (true, true, true, true),
            // How the person logged in was asked when they let the client in.
            Entrance::Redemption
            | Entrance::Refresh
            | Entrance::Exchange
            | Entrance::ProviderToken
            | Entrance::AdminApi
            | Entrance::Scim => (true, false, false, true),
        };
        match rule {
            Rule::Enabled | Rule::Lasting | Rule::Kept => true,
            Rule::TakenOver => taken_over,
            Rule::OwnPassword | Rule::Terms => owed,
            Rule::Classes => classes,
            Rule::AccessRules => access_rules,
        }
    }

    /// The part of the question that the account alone answers, at a time (Unix seconds): what the
    /// condition of a write can ask, too. A record as it was read, or as it rests.
    pub fn opens(self, user: &User, now: u64) -> bool {
        Rule::ALL
            .iter()
            .filter(|rule| self.asks(**rule))
            .all(|rule| match rule {
                Rule::Enabled => user.enabled,
                Rule::Lasting => user.expires_at.is_none_or(|end| now < end),
                Rule::Kept => user.deletion.is_none(),
                Rule::TakenOver => !user.awaits_its_person(),
                Rule::OwnPassword | Rule::Terms | Rule::Classes | Rule::AccessRules => true,
            })
    }
}

/// What a person still has to do before a session begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed {
    /// A password of their own.
    Password,
    /// The terms.
    Terms,
}

/// What this person has to do before a session begins. Where the password is a directory's, it is
/// changed there.
pub fn owed(context: &Context, user: &User) -> Option<Owed> {
    if user.must_change_password && context.realm.people.users.may(user).password {
        return Some(Owed::Password);
    }
    let has_terms = context.snapshot.settings.sign_up.terms.is_some();
    (user.must_accept_terms && has_terms).then_some(Owed::Terms)
}

/// What somebody asks for.
#[derive(Clone, Copy, Default)]
pub struct Wants<'a> {
    /// The client, and what it asks for.
    pub sought: Sought<'a>,
    /// Whom the access token is meant for.
    pub audience: &'a [String],
    /// What the person has shown: names of [`acr::METHODS`]. None: they are not here, and it was
    /// asked when they were let in.
    pub shown: Option<&'a [&'a str]>,
    /// Classes that are demanded beside the operator's.
    pub classes: &'a [String],
}

/// That the question was asked, and answered with yes. Only this module makes one.
#[derive(Debug)]
pub struct Leave {
    rule: Option<String>,
}

impl Leave {
    /// The access rule that let the person in, where one had to.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }
}

/// The answer no.
#[derive(PartialEq, Eq, Debug)]
pub enum KeptOut {
    /// The account opens nothing: to an unauthenticated caller as if it did not exist.
    Nobody,
    /// Something comes first.
    Owed(Owed),
    /// The login does not reach a class that is demanded.
    Class,
    /// An access rule keeps the person out; none: none lets them in, and the realm's mode denies.
    Rule(Option<String>),
}

/// May this person have this, now? To be asked before anything is committed. `user`: as the
/// directory has them now.
pub fn ask(
    context: &Context,
    entrance: Entrance,
    user: &User,
    wants: &Wants<'_>,
) -> Result<Leave, KeptOut> {
    if !entrance.opens(user, context.now()) {
        return Err(KeptOut::Nobody);
    }
    if let Some(owed) = owed(context, user) {
        let rule = match owed {
            Owed::Password => Rule::OwnPassword,
            Owed::Terms => Rule::Terms,
        };
        if entrance.asks(rule) {
            return Err(KeptOut::Owed(owed));
        }
    }
    if entrance.asks(Rule::Classes) {
        let demanded = classes(context, wants.sought, Some(user));
        let shown = wants.shown.unwrap_or(&[]);
        let mut demanded = demanded.iter().chain(wants.classes);
        if demanded.any(|class| !acr::holds(class, shown)) {
            return Err(KeptOut::Class);
        }
    }
    match entrance.asks(Rule::AccessRules) {
        true => by_rules(context, Some(user), wants).map_err(KeptOut::Rule),
        false => Ok(Leave { rule: None }),
    }
}

fn rules(snapshot: &Snapshot) -> Access<'_> {
    snapshot.registry.access(snapshot.settings.access)
}

/// Where the request comes from, as far as the one who is let in is concerned. The application of
/// a public client is where its person is, and a client that speaks for itself is where it is.
fn origin(context: &Context, is_here: bool, client: Option<&Client>) -> Origin {
    match is_here || client.is_some_and(Client::is_public) {
        true => Origin::Address(context.peer),
        false => Origin::Earlier,
    }
}

/// Calls `with` with the question that access rules are asked about this.
fn question<T>(
    context: &Context,
    user: Option<&User>,
    wants: &Wants<'_>,
    client: &Client,
    with: impl FnOnce(&Question<'_>) -> T,
) -> T {
    let held = user.map(User::holdings);
    let person = user.zip(held.as_ref());
    let reached = wants.shown.map(acr::reached);
    let nothing = ScopeSet::EMPTY;
    with(&Question {
        person: person.map(|(user, held)| (user.id.as_str(), held)),
        client_id: &client.client_id,
        scope: wants.sought.scope.unwrap_or(&nothing),
        audience: wants.audience,
        origin: origin(
            context,
            user.is_none() || wants.shown.is_some(),
            Some(client),
        ),
        // How the person logged in was asked then; a client for itself did not log in.
        classes: match user {
            Some(_) => reached.as_deref(),
            None => Some(&[]),
        },
        now: context.now(),
    })
}

/// What access rules say; Err: the rule that keeps out.
fn by_rules(
    context: &Context,
    user: Option<&User>,
    wants: &Wants<'_>,
) -> Result<Leave, Option<String>> {
    let access = rules(&context.snapshot);
    if access.is_open() {
        return Ok(Leave { rule: None });
    }
    let client = wants.sought.client.ok_or(None)?;
    question(context, user, wants, client, |question| {
        let verdict = access.decide(question);
        let rule = verdict.rule.map(str::to_owned);
        match verdict.allowed {
            true => Ok(Leave { rule }),
            false => Err(rule),
        }
    })
}

/// The claims that are asked for singly, as far as access rules let this person's out: what a
/// scope protects comes out by no other way.
pub fn allowed_claims(context: &Context, user: &User, wants: &Wants<'_>) -> Option<ClaimsRequest> {
    let claims = wants.sought.claims?;
    let access = rules(&context.snapshot);
    if access.is_open() {
        return Some(claims.clone());
    }
    let client = wants.sought.client?;
    let registry = &context.snapshot.registry;
    Some(question(context, Some(user), wants, client, |question| {
        userinfo::allowed_claims(claims, question, access, registry, client)
    }))
}

/// What somebody holds, where access rules have something to decide by it.
pub fn held(snapshot: &Snapshot, user: Option<&User>) -> Option<Holdings> {
    let user = user.filter(|_| !rules(snapshot).is_open());
    user.map(User::holdings)
}

/// What authorization has to know of access rules: [`signet_oauth::authorize::decide`] asks them
/// in its own order, between the pages. `held`: of [`held`].
pub fn entry<'a>(
    snapshot: &'a Snapshot,
    held: Option<&'a Holdings>,
    audience: &'a [String],
    peer: IpAddr,
) -> Option<Entry<'a>> {
    held.map(|held| Entry {
        access: rules(snapshot),
        held,
        audience,
        origin: Origin::Address(peer),
    })
}

/// What a line says where no rule decided, but the realm's mode.
const MODE: &str = "access_mode";
/// What a line says where a rule did, whose name is its target.
const RULE: &str = "access_rule";

/// The line of something that access rules refuse: the rule's name.
pub fn noted<'a>(event: Event<'a>, rule: Option<&'a str>) -> Event<'a> {
    match rule {
        Some(rule) => event.operation(RULE).target(rule),
        None => event.operation(MODE),
    }
}

/// The line of something that they let through: the rule's name, where one was needed.
pub fn let_in<'a>(event: Event<'a>, rule: Option<&'a str>) -> Event<'a> {
    match rule {
        Some(rule) => event.target(rule),
        None => event,
    }
}

/// Records that access rules keep somebody out. `method`: what was asked for.
pub fn record(
    context: &Context,
    (sub, client_id): (&str, &str),
    method: &str,
    code: ErrorCode,
    rule: Option<&str>,
) {
    let event = context
        .event(signet_audit::Action::ACCESS)
        .subject(sub)
        .client(client_id)
        .method(method)
        .refused(code.as_str());
    context.realm.audit().record(noted(event, rule));
}

/// Whether a token may be issued; the claims that it would carry and rules deny are taken out of
/// it. `user`: the token's, as the directory has them now; none: it is a client's own.
///
/// # Errors
/// As the grant's specification says it: `access_denied` to a device (RFC 8628 section 3.5),
/// `unauthorized_client` to a client for itself and `invalid_grant` for a grant (RFC 6749 section
/// 5.2), `invalid_request` in an exchange (RFC 8693 section 2.2.2).
pub fn of_token(
    context: &Context,
    decision: &mut Decision,
    user: Option<&User>,
    grant_type: &str,
) -> Result<Leave, OAuthError> {
    let token = &decision.issue.access_token;
    let power = Power {
        sub: &token.sub,
        client_id: &token.client_id,
        scope: &token.scope,
        audience: &token.audience,
    };
    let leave = of_power(context, entrance_of(grant_type), &power, user, grant_type)?;
    if let Some(user) = user {
        take_out_claims(context, &mut decision.issue, user);
    }
    Ok(leave)
}

fn entrance_of(grant_type: &str) -> Entrance {
    match GrantType::from_name(grant_type) {
        Some(GrantType::RefreshToken) => Entrance::Refresh,
        Some(GrantType::TokenExchange) => Entrance::Exchange,
        Some(
            GrantType::AuthorizationCode | GrantType::DeviceCode | GrantType::ClientCredentials,
        )
        | None => Entrance::Redemption,
    }
}

fn take_out_claims(context: &Context, issue: &mut Issue, user: &User) {
    let token = &issue.access_token;
    let asked = issue.id_token.as_ref();
    let asked = asked.and_then(|id_token| id_token.claims.as_ref());
    if rules(&context.snapshot).is_open() || (asked.is_none() && token.claims.is_none()) {
        return;
    }
    let clients = &context.snapshot.registry.clients;
    let client = clients.get(&token.client_id).map(|client| &**client);
    let allowed = |claims: &String| {
        let claims = ClaimsRequest::parse(claims).ok()?;
        let wants = Wants {
            sought: Sought {
                client,
                scope: Some(&token.scope),
                claims: Some(&claims),
            },
            audience: &token.audience,
            ..Wants::default()
        };
        let left = allowed_claims(context, user, &wants)?;
        (!left.is_empty()).then(|| left.to_json())
    };
    let (of_id_token, of_token) = (
        asked.and_then(allowed),
        token.claims.as_ref().and_then(allowed),
    );
    issue.access_token.claims = of_token;
    if let Some(id_token) = &mut issue.id_token {
        id_token.claims = of_id_token;
    }
}

/// What somebody gets.
pub struct Power<'a> {
    /// Of whom.
    pub sub: &'a str,
    /// The client that gets it.
    pub client_id: &'a str,
    /// What it is good for.
    pub scope: &'a ScopeSet,
    /// Where.
    pub audience: &'a [String],
}

/// As [`of_token`], of what is not a token of this issuer.
///
/// # Errors
/// As there.
pub fn of_power(
    context: &Context,
    entrance: Entrance,
    power: &Power<'_>,
    user: Option<&User>,
    grant_type: &str,
) -> Result<Leave, OAuthError> {
    let client = context.snapshot.registry.clients.get(power.client_id);
    let wants = Wants {
        sought: Sought {
            client: client.map(|client| &**client),
            scope: Some(power.scope),
            claims: None,
        },
        audience: power.audience,
        ..Wants::default()
    };
    let asked = match user {
        Some(user) => ask(context, entrance, user, &wants),
        None => by_rules(context, None, &wants).map_err(KeptOut::Rule),
    };
    match asked {
        Ok(leave) => Ok(leave),
        Err(KeptOut::Rule(rule)) => {
            let hint = rule.as_deref().unwrap_or("the mode of the realm");
            let error = refusal(grant_type).with_hint(hint);
            let who = (power.sub, power.client_id);
            record(context, who, grant_type, error.code, rule.as_deref());
            Err(error)
        }
        Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => {
            // RFC 8693 section 2.2.2.
            let error = match entrance == Entrance::ProviderToken {
                true => {
                    OAuthError::invalid_request("the subject token's person cannot be acted for")
                }
                false => OAuthError::invalid_grant(
                    "the grant is invalid, expired, revoked, or was issued to another client",
                ),
            };
            Err(error.with_hint("the user is disabled, or has not taken the account over"))
        }
    }
}

fn refusal(grant_type: &str) -> OAuthError {
    const PERSON: &str = "an access rule does not let this person in";
    match GrantType::from_name(grant_type) {
        Some(GrantType::DeviceCode) => OAuthError::new(ErrorCode::AccessDenied, PERSON),
        Some(GrantType::ClientCredentials) => OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "an access rule does not let this client in",
        ),
        Some(GrantType::TokenExchange) => OAuthError::new(ErrorCode::InvalidRequest, PERSON),
        Some(GrantType::AuthorizationCode | GrantType::RefreshToken) | None => {
            OAuthError::invalid_grant(PERSON)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(first: &str, cells: impl Iterator<Item = &'static str>) -> String {
        let cells: Vec<&str> = cells.collect();
        format!("| {first} |{}", cells.concat())
    }

    /// The table as docs/accounts.md has it.
    fn table() -> String {
        const ASKED: [&str; 2] = [" |", " asked |"];
        let names = Rule::ALL.iter().flat_map(|rule| [" ", rule.as_str(), " |"]);
        let rule = "---|".repeat(Rule::ALL.len() + 1);
        let mut lines = vec![line("entrance", names), format!("|{rule}")];
        lines.extend(Entrance::ALL.iter().map(|entrance| {
            let asks = Rule::ALL.iter().map(|rule| entrance.asks(*rule));
            line(entrance.as_str(), asks.map(|asks| ASKED[usize::from(asks)]))
        }));
        lines.join("\n")
    }

    #[test]
    fn the_manual_has_the_table_of_entrances() {
        const MANUAL: &str = include_str!("../../../docs/accounts.md");
        assert!(MANUAL.contains(&table()), "\n{}", table());
    }

    /// An entrance that decides by itself leaves something out: this module alone asks whether an
    /// account is in force. What is written or shown of the member is not the question.
    #[test]
    fn no_entrance_decides_by_itself_whether_an_account_is_in_force() {
        const MAY: [&str; 5] = [
            "access.rs",
            "admin/model.rs",
            "admin/users.rs",
            "admin/import.rs",
            "scim/users.rs",
        ];
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![root.clone()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&root).unwrap().to_string_lossy();
                let text = std::fs::read_to_string(&path).unwrap();
                let asks = ["user.enabled", "now.enabled", "present.user.enabled"];
                let decides = asks.iter().any(|ask| {
                    text.match_indices(ask).any(|(at, _)| {
                        let rest = text[at + ask.len()..].trim_start();
                        !rest.starts_with("= ")
                    })
                });
                if decides && !MAY.contains(&&*name) {
                    found.push(name.into_owned());
                }
            }
        }
        assert!(found.is_empty(), "{found:?} ask `access` nothing");
    }
}
