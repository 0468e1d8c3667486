//! Who calls the admin API, and what they may.
use crate::api_key::{self, Maker};
use crate::facts::Facts;
use crate::problem::Problem;
use crate::right::Right;
use crate::roles::{Rights, needed};
use http::{HeaderName, StatusCode, header};
use signet_budgets::attempts::{self, Kind, Refused};
use signet_crypto::Secret;
use signet_directory::session::{RECENT, SessionRow, Shown, has_two_factors};
use signet_directory::{User, session};
use signet_http::RequestId;
use signet_jose::authorization::access_token;
use signet_oauth::authorize::acr::{PHISHING_RESISTANT_TWO_FACTORS, TWO_FACTORS};
use signet_oauth::client::Client;
use signet_oauth::command_line::CLIENT_ID;
use signet_oauth::error::ErrorCode;
use signet_oauth::issued::access_token::{TokenLookup, TokenState, VerifiedAccessToken};
use signet_oauth::params::Params;
use signet_oauth::request::{self, PeerCertificate, Request};
use signet_oauth::scope::{ADMIN, ADMIN_READ, ScopeSet};
use signet_oauth::token::decision::SingleUse;
use signet_oauth::token::dpop_policy::check_presentation;
use signet_realm::realms::Realms;
use signet_realm::revoked::Index;
use signet_realm::single_use::{self, Proofs};
use signet_realm::state::Realm;
use signet_request::access::{self, Entrance, KeptOut, Leave, Sought, Wants};
use signet_request::http::Context;
use std::{net::IpAddr, sync::Arc};

/// The header of a DPoP proof (RFC 9449 section 4.1).
pub const DPOP: HeaderName = HeaderName::from_static("dpop");

/// An administrator: a person or a client, with what they may at this moment.
pub struct Admin {
    /// A user's id or a `client_id`.
    pub who: String,
    /// What they may.
    pub rights: Rights,
    /// None: a client.
    login: Option<CallerLogin>,
}

/// What an administrator has shown who is no client.
enum CallerLogin {
    /// A token was shown.
    Token {
        /// The one whose token it is.
        realm: Arc<Realm>,
        token: Arc<VerifiedAccessToken>,
    },
    /// The person's own browser, and what it has shown.
    Browser(Vec<Shown>),
    /// None: an API key, which shows no factor.
    Key,
}

impl CallerLogin {
    /// Whether two factors were shown at `since` (Unix seconds) or later.
    async fn has_two_factors(&self, since: u64, now: u64) -> Result<bool, Problem> {
        let (realm, token) = match self {
            CallerLogin::Key => return Ok(false),
            CallerLogin::Browser(shown) => return Ok(has_two_factors(shown, since)),
            CallerLogin::Token { realm, token } => (realm, token),
        };
        if !token.subject_jtis.is_empty() || !token.actors.is_empty() {
            // Exchanged: somebody else has it.
            return Ok(false);
        }
        if let Some(sid) = &token.sid {
            let sessions = session::list(&*realm.store, &token.sub, now).await?;
            let own = sessions.iter().find(|(_, row)| row.sid == *sid);
            return Ok(own.is_some_and(|(_, row)| has_two_factors(&row.shown(), since)));
        }
        // `/password-login` begins no session: its token says what was shown, at its own time.
        let by_password = token.client_id == CLIENT_ID && token.grant_id.is_none();
        let class = token.acr.as_deref();
        let reached = class == Some(TWO_FACTORS) || class == Some(PHISHING_RESISTANT_TWO_FACTORS);
        Ok(by_password && reached && token.auth_time.is_some_and(|at| at >= since))
    }
}

/// An administrator who is about to do something.
pub struct Acting {
    /// The realm that is administered.
    pub realm: Arc<Realm>,
    /// Who.
    pub admin: Admin,
    /// The id of the request, which log and audit trail have.
    pub request_id: RequestId,
    /// Where the request came from.
    pub peer: IpAddr,
    /// Unix milliseconds.
    pub now_ms: u64,
}

/// What an administrator of the first realm is called in another one.
const OF_INSTALLATION: &str = "installation:";

/// The API key that a request shows.
fn key_of(context: &Context) -> Option<Secret<String>> {
    api_key::shown(context.header(header::AUTHORIZATION)?)
}

/// The refusal of a request; where it showed an API key that is none, it is counted against its
/// network, and one too many hears 429. A good key is never held up.
async fn count_guess(context: &Context, refused: Problem) -> Problem {
    if refused.code() != NOT_VALID || key_of(context).is_none() {
        return refused;
    }
    let realm = &context.realm;
    let budgets = realm.people.limits.of_networks(Kind::ApiKey, context.peer);
    match attempts::count_all(&*realm.store, &budgets, context.now()).await {
        Ok(()) => refused,
        Err(Refused::TooMany { retry_after }) => {
            Problem::too_many("too many API keys that are none", retry_after)
        }
        Err(Refused::Store(error)) => error.into(),
    }
}

/// The code of a refused token (RFC 6750 section 3.1).
const NOT_VALID: &str = "invalid_token";

fn unauthorized(detail: &'static str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, NOT_VALID, detail)
}

/// The most that a scope reaches: to everything, or to what is read. None: it is none of
/// administration.
fn reach(scope: &ScopeSet) -> Option<&'static str> {
    [ADMIN, ADMIN_READ]
        .into_iter()
        .find(|name| scope.contains(name))
}

impl Admin {
    /// Whether they may perform an operation.
    ///
    /// # Errors
    /// `insufficient_scope` where their token is for reading alone; `insufficient_role`, which
    /// names the roles that would do.
    pub fn expect_may(&self, facts: &Facts) -> Result<(), Problem> {
        if self.rights.may(facts) {
            return Ok(());
        }
        if self.rights.is_for_reading() && facts.needs != Right::Read {
            return Err(Problem::insufficient_scope(
                "the caller may read, and change nothing",
            ));
        }
        let roles = match self.rights.roles() {
            [] => "none".to_owned(),
            roles => roles.join(", "),
        };
        Err(Problem::insufficient_role(format!(
            "{} needs one of the roles {} (or an own role that names it): yours are {roles}",
            facts.id,
            needed(facts).join(", "),
        )))
    }

    /// Whether the caller is a person who has just shown two factors. `now_ms`: Unix milliseconds.
    ///
    /// # Errors
    /// The store's.
    pub async fn has_just_shown_two_factors(&self, now_ms: u64) -> Result<bool, Problem> {
        let now = now_ms / 1000;
        match &self.login {
            Some(login) => login.has_two_factors(now.saturating_sub(RECENT), now).await,
            None => Ok(false),
        }
    }

    /// The holder of the request's access token: one of this server, alive, presented as it is
    /// bound, for this server, with a scope of administration that its holder may still have now.
    ///
    /// # Errors
    /// `invalid_token` or what is wrong with the proof of possession, both 401;
    /// `insufficient_scope`, 403; 429 for too many proofs of one key; 503 where the store does not
    /// answer.
    pub async fn of_request(context: &Context) -> Result<Admin, Problem> {
        let refused = match Admin::known_here(context).await {
            Err(problem) if problem.code() == NOT_VALID => problem,
            known => return known,
        };
        // Administrators of the installation may administer every realm of it. They show a token of
        // its first realm, and what they may is looked up there.
        let realms = Realms::of(&context.realm);
        let first = realms.as_ref().map(|realms| realms.first());
        let Some(first) = first.filter(|first| first.id() != context.realm.id()) else {
            return Err(count_guess(context, refused).await);
        };
        match Admin::known_here(&context.seen_by(first)).await {
            Ok(known) => known.of_installation(),
            Err(problem) => Err(count_guess(context, problem).await),
        }
    }

    /// The person of a browser's session in this realm, who must be allowed at this moment what a
    /// token of the command line's client would be: the right itself, that client's record, and
    /// access rules. That the session is one of the console is its caller's to know.
    ///
    /// # Errors
    /// `insufficient_scope` or `access_denied`, 403; `invalid_token`, 401, where the account opens
    /// nothing.
    pub fn of_session(
        context: &Context,
        user: &User,
        session: &SessionRow,
    ) -> Result<Admin, Problem> {
        let no_longer = || Problem::insufficient_scope("this account may not administer");
        let registry = &context.snapshot.registry;
        let client = registry.client(CLIENT_ID, context.now());
        let client = client.ok_or_else(no_longer)?;
        let reach = reach(&client.scope).ok_or_else(no_longer)?;
        if !user.admin {
            return Err(no_longer());
        }
        let scope = ScopeSet::parse(reach).unwrap_or_default();
        let methods = session.methods();
        let wants = Wants {
            sought: Sought {
                client: Some(client),
                scope: Some(&scope),
                claims: None,
            },
            shown: Some(&methods),
            ..Wants::default()
        };
        match access::ask(context, Entrance::AdminApi, user, &wants) {
            Ok(_) => Ok(Admin {
                who: user.id.clone(),
                rights: Rights::of_user(user, registry).reading(reach == ADMIN_READ),
                login: Some(CallerLogin::Browser(session.shown())),
            }),
            Err(KeptOut::Rule(rule)) => {
                let (who, code) = ((&*user.id, CLIENT_ID), ErrorCode::AccessDenied);
                let entrance = Entrance::AdminApi.as_str();
                access::record(context, who, entrance, code, rule.as_deref());
                Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "access_denied",
                    "an access rule does not let this person in",
                ))
            }
            Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => {
                Err(unauthorized("this account opens nothing"))
            }
        }
    }

    /// The same, seen from a further realm, which owners of the installation administer, too; so do
    /// its clients, within their scope. Other roles count in the realm of their account.
    ///
    /// # Errors
    /// `insufficient_role`.
    pub fn of_installation(self) -> Result<Admin, Problem> {
        if self.login.is_some() && !self.rights.is_owner() {
            return Err(Problem::insufficient_role(
                "further realms are administered by owners of the first realm: other roles count in the realm of their account",
            ));
        }
        Ok(Admin {
            who: format!("{OF_INSTALLATION}{}", self.who),
            ..self
        })
    }

    /// Who makes a key: a person or a client of this realm. None: it is another key, or somebody of
    /// the first realm.
    pub fn maker(&self) -> Option<Maker> {
        if self.who.starts_with(OF_INSTALLATION) {
            return None;
        }
        match &self.login {
            Some(CallerLogin::Key) => None,
            Some(CallerLogin::Token { .. } | CallerLogin::Browser(_)) => {
                Some(Maker::User(self.who.clone()))
            }
            None => Some(Maker::Client(self.who.clone())),
        }
    }

    async fn known_here(context: &Context) -> Result<Admin, Problem> {
        if let Some(key) = key_of(context) {
            let holder = api_key::holder(context, &key).await?;
            let (who, rights) = holder.ok_or_else(|| {
                unauthorized("the API key is not valid: it was removed, has expired, or its maker may not administer")
            })?;
            return Ok(Admin {
                who,
                rights,
                login: Some(CallerLogin::Key),
            });
        }
        let facts = token_of(context).await?;
        let shown = reach(&facts.scope).ok_or_else(|| {
            Problem::insufficient_scope("the access token has no scope of administration")
        })?;
        context.note_client(&facts.client_id);
        let client = context
            .snapshot
            .registry
            .client(&facts.client_id, context.now())
            .ok_or_else(|| unauthorized("the client of this token is gone or disabled"))?;
        let no_longer = || Problem::insufficient_scope("the caller may no longer administer");
        // The token says what the client's record allowed when it was made.
        let allowed = reach(&client.scope).ok_or_else(no_longer)?;
        let reads_only = shown == ADMIN_READ || allowed == ADMIN_READ;
        let scope = if reads_only { ADMIN_READ } else { ADMIN };
        let scope = ScopeSet::parse(scope).unwrap_or_default();
        let Some(user_id) = facts.user_id() else {
            let who = facts.client_id.clone();
            return Ok(Admin {
                who,
                rights: Rights::of_scope(&scope).reading(reads_only),
                login: None,
            });
        };
        let users = &context.realm.people.users;
        let gone = || unauthorized("the user of this token is gone or disabled");
        let user = users.by_id(user_id, context.now()).await?;
        let user = user.ok_or_else(gone)?;
        let registry = &context.snapshot.registry;
        match person(context, Entrance::AdminApi, &user, (&facts, client, &scope)) {
            Err(KeptOut::Rule(_)) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "access_denied",
                "an access rule does not let this person in",
            )),
            Err(KeptOut::Nobody | KeptOut::Owed(_) | KeptOut::Class) => Err(gone()),
            Ok(_) if user.admin => Ok(Admin {
                rights: Rights::of_user(&user, registry).reading(reads_only),
                who: user.id,
                login: Some(CallerLogin::Token {
                    realm: Arc::clone(&context.realm),
                    token: facts,
                }),
            }),
            Ok(_) => Err(no_longer()),
        }
    }
}

/// Whether a person may have what their token is used for: this scope, by its client.
pub fn person(
    context: &Context,
    entrance: Entrance,
    user: &User,
    (facts, client, scope): (&VerifiedAccessToken, &Client, &ScopeSet),
) -> Result<Leave, KeptOut> {
    let wants = Wants {
        sought: Sought {
            client: Some(client),
            scope: Some(scope),
            claims: None,
        },
        audience: &facts.audience,
        ..Wants::default()
    };
    let asked = access::ask(context, entrance, user, &wants);
    if let Err(KeptOut::Rule(rule)) = &asked {
        let (who, code) = ((&*user.id, &*facts.client_id), ErrorCode::AccessDenied);
        access::record(context, who, entrance.as_str(), code, rule.as_deref());
    }
    asked
}

/// The request's access token: one of this server, alive, presented as it is bound, and for this
/// server.
///
/// # Errors
/// As [`Admin::of_request`], but for scopes.
pub async fn token_of(context: &Context) -> Result<Arc<VerifiedAccessToken>, Problem> {
    let (facts, single_use) = check_token(context)?;
    if let Some(single_use) = single_use {
        // RFC 9449 section 11.1: a proof is used once.
        let client = context.snapshot.registry.clients.get(&facts.client_id);
        let client = client.map(|client| &**client);
        single_use::commit(
            &*context.realm.store,
            Proofs::with_token_of(&context.realm.budgets, client),
            &[single_use],
            Vec::new(),
            context.now(),
        )
        .await
        .map_err(|error| match error {
            single_use::SingleUseError::Refused(_) => {
                unauthorized("the DPoP proof was used before")
            }
            single_use::SingleUseError::TooMany { retry_after } => {
                Problem::too_many("too many proofs of this key", retry_after)
            }
            single_use::SingleUseError::Store(error) => error.into(),
        })?;
    }
    let settings = &context.snapshot.settings;
    let audience = settings
        .default_audience
        .as_ref()
        .unwrap_or(&settings.issuer);
    match facts
        .audience
        .iter()
        .any(|aud| aud == &settings.issuer || aud == audience)
    {
        true => Ok(facts),
        false => Err(unauthorized("the access token is for another resource")),
    }
}

fn check_token(
    context: &Context,
) -> Result<(Arc<VerifiedAccessToken>, Option<SingleUse>), Problem> {
    let authorization = context.header(header::AUTHORIZATION).ok_or_else(|| {
        Problem::no_token("an access token with the scope signet:admin is needed")
    })?;
    let (scheme, token) = access_token(authorization)
        .map_err(|_| unauthorized("the Authorization header is not Bearer or DPoP"))?;
    let (keyring, index) = (context.realm.keyring(), Index::of(&context.realm));
    let rules = request::Context {
        registry: &context.snapshot.registry,
        settings: &context.snapshot.settings,
        keyring: &keyring,
        keys: &*context.snapshot.keys,
        revocations: &index,
        now_ms: context.now_ms,
        issue_ms: context.issue_ms,
    };
    let facts = match rules.look_up(token) {
        TokenState::Valid(facts) => facts,
        TokenState::Unknown => return Err(Problem::unavailable()),
        TokenState::Expired(_) | TokenState::Revoked(_) | TokenState::Forged => {
            return Err(unauthorized("the access token is not valid"));
        }
    };
    // Two DPoP headers are as if none: the token is then bound to what was not shown.
    let params = Params::default();
    let dpop = context.header(DPOP);
    let htu = context.request_url(dpop.unwrap_or_default());
    let request = Request {
        params: &params,
        authorization: Some(authorization),
        certificate: context.certificate.as_deref().map(|peer| PeerCertificate {
            certificate: &peer.certificate,
            trusted: peer.chain_trusted,
        }),
        dpop,
        htm: context.method.as_str(),
        htu: &htu,
    };
    let single_use = check_presentation(&rules, scheme, &request, token, &facts)?;
    Ok((facts, single_use))
}
