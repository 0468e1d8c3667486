//! What happens next with a checked request: a page, an error, or a grant. Called again after every
//! page, with what has been done; it never remembers anything itself, so a skipped page cannot be a
//! passed one.
use super::{
    acr,
    request::{AuthorizationRequest, Pushed},
};
use crate::client::{Client, ConsentPolicy};
use crate::error::{ErrorCode, OAuthError};
use crate::id::{CodeId, GrantId};
use crate::issued::claims::ClaimsRequest;
use crate::issued::sealed::AuthorizationCode;
use crate::issued::session::{Consent, Session};
use crate::people::access_rules::{Access, Origin, Question, Verdict};
use crate::people::{Holdings, userinfo};
use crate::registry::Registry;
use crate::scope::ScopeSet;
use crate::settings::Settings;

/// What the decision must know of the store. The caller reads just this, and says it in
/// [`LookedUp`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs<'a> {
    /// whether this pushed request was answered before
    pub pushed: Option<&'a Pushed>,
    /// what this user has agreed to before, for the request's client
    pub consent_of: Option<&'a str>,
}

/// The answers to [`Needs`].
#[derive(Clone, Copy, Debug, Default)]
pub struct LookedUp<'a> {
    /// the pushed request was answered before
    pub pushed_is_used: bool,
    /// what the session's user has agreed to before
    pub consent: Option<&'a Consent>,
}

/// What the request needs to be known before [`decide`], in a browser with this session.
pub fn needs<'a>(
    request: &'a AuthorizationRequest,
    client: &Client,
    session: Option<&'a Session>,
) -> Needs<'a> {
    let counts = client.consent == ConsentPolicy::Ask && remembered_consent_counts(request, client);
    Needs {
        pushed: request.pushed.as_ref(),
        consent_of: session
            .filter(|_| counts)
            .map(|session| session.user_id.as_str()),
    }
}

/// What the server itself knows. Nothing here may come from a request (known faults A1, A5).
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// the browser's live session
    pub session: Option<&'a Session>,
    /// what [`needs`] asked for
    pub looked_up: LookedUp<'a>,
    /// Has that session's user the admin flag?
    pub is_admin: bool,
    /// what has been done in this interaction
    pub progress: Progress,
    /// classes that the operator demands of this person for this: each has to be reached
    pub required: &'a [String],
    /// which scopes give which claims
    pub registry: &'a Registry,
    /// what access rules must know; none: there is nothing to decide
    pub entry: Option<Entry<'a>>,
    /// Unix seconds
    pub now: u64,
}

/// What access rules must know beside the request and the session.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// the rules
    pub access: Access<'a>,
    /// what the session's user holds
    pub held: &'a Holdings,
    /// whom the access token will be meant for
    pub audience: &'a [String],
    /// where the person is
    pub origin: Origin,
}

impl<'a> Entry<'a> {
    /// Whether a person who logged in so may let this client have this scope; and what of the
    /// claims that are asked for singly.
    fn decide(
        &self,
        (request, client): (&AuthorizationRequest, &Client),
        session: &Session,
        scope: &ScopeSet,
        facts: &Facts<'_>,
    ) -> (Verdict<'a>, Option<ClaimsRequest>) {
        let classes = acr::reached(&session.methods);
        let question = Question {
            person: Some((&session.user_id, self.held)),
            client_id: &client.client_id,
            scope,
            audience: self.audience,
            origin: self.origin,
            classes: Some(&classes),
            now: facts.now,
        };
        let asked = request.claims.as_ref();
        let claims = asked.map(|claims| {
            userinfo::allowed_claims(claims, &question, self.access, facts.registry, client)
        });
        (self.access.decide(&question), claims)
    }
}

/// What has been done on the pages of this interaction. It travels sealed, bound to the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The session was made, or proven again, in this interaction.
    pub logged_in_now: bool,
    /// The person allowed what [`Step::Consent`] listed.
    pub consented_now: bool,
    /// The person chose to go on as who they are.
    pub account_selected: bool,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Show the login page.
    Login {
        /// why
        reason: LoginReason,
        /// the class that is asked for, where one is: offer its method
        acr: Option<&'a str>,
    },
    /// Ask whether to go on as this session's user.
    SelectAccount,
    /// Ask the person.
    Consent {
        /// everything that is asked for
        scope: ScopeSet,
        /// what of it has not been agreed to before
        new_scope: ScopeSet,
        /// single claims beyond those of the scopes
        claims: Vec<String>,
    },
    /// Answer with a code.
    Grant(Granted<'a>),
    /// Answer with this error.
    Refuse(OAuthError),
    /// Answer that this person may not: an access rule says so.
    Forbid {
        /// the rule; none: none lets them in, and the realm's mode is to deny
        rule: Option<&'a str>,
    },
    /// Show this error to the person; nobody is sent anywhere.
    Stop(OAuthError),
}

/// Why a login is required, although a session may exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginReason {
    /// nobody is
    NoSession,
    /// `prompt=login`, `prompt=create`
    Prompt,
    /// `max_age` has passed
    MaxAge,
    /// the client expects somebody else
    OtherUser,
    /// another method is asked for (`acr_values`, `claims`)
    StepUp,
}

/// A request that is granted. Only [`decide`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Granted<'a> {
    request: &'a AuthorizationRequest,
    session: &'a Session,
    scope: ScopeSet,
    acr: String,
    rule: Option<&'a str>,
    claims: Option<ClaimsRequest>,
}

/// Fresh randomness of one code, and the moment.
#[derive(Clone, Copy, Debug)]
pub struct CodeIds {
    /// the code's own
    pub id: CodeId,
    /// the grant's, and refresh family's
    pub grant_id: GrantId,
    /// Unix milliseconds
    pub now_ms: u64,
    /// the moment that it bears, Unix milliseconds: as of a request
    pub issue_ms: u64,
}

impl Granted<'_> {
    /// What was granted: also what to remember as consent.
    pub fn scope(&self) -> &ScopeSet {
        &self.scope
    }
    /// The claims that are asked for singly, as far as access rules let them through: also what to
    /// remember as consent.
    pub fn claims(&self) -> Option<&ClaimsRequest> {
        self.claims.as_ref()
    }
    /// The access rule that let it through, where one had to.
    pub fn rule(&self) -> Option<&str> {
        self.rule
    }
    /// Whose grant it is.
    pub fn session(&self) -> &Session {
        self.session
    }
    /// The code's content, to be sealed.
    pub fn code(&self, ids: CodeIds, settings: &Settings) -> AuthorizationCode {
        let request = self.request;
        AuthorizationCode {
            id: ids.id,
            grant_id: ids.grant_id,
            client_id: request.client_id().to_owned(),
            redirect_uri: request.return_to.redirect_uri.clone(),
            redirect_uri_was_sent: request.redirect_uri_was_sent,
            code_challenge: request.code_challenge.clone(),
            nonce: request.nonce.clone(),
            scope: self.scope.clone(),
            resources: request.resources.clone(),
            user_id: self.session.user_id.clone(),
            sid: self.session.sid.clone(),
            auth_time: self.session.auth_time,
            acr: self.acr.clone(),
            amr: self.session.amr.clone(),
            session_ends_at: self.session.ends_at,
            claims: self.claims.as_ref().map(ClaimsRequest::to_json),
            dpop_jkt: request.dpop_jkt.clone(),
            issued_at_ms: ids.issue_ms,
            expires_at: ids.now_ms / 1000 + settings.code_lifetime,
        }
    }
}

/// The person said no.
pub fn denied() -> OAuthError {
    OAuthError::new(ErrorCode::AccessDenied, "the person denied the request")
}

/// An access rule keeps the person out (RFC 6749 section 4.1.2.1).
pub fn forbidden() -> OAuthError {
    OAuthError::new(
        ErrorCode::AccessDenied,
        "an access rule does not let this person in",
    )
}

/// RFC 9126 section 4: a pushed request is answered once.
pub fn pushed_is_used() -> OAuthError {
    OAuthError::new(
        ErrorCode::InvalidRequestUri,
        "This request has been answered already.",
    )
}

/// Decides the next step. `client` is the request's, of the current snapshot.
pub fn decide<'a>(
    request: &'a AuthorizationRequest,
    client: &Client,
    facts: &Facts<'a>,
) -> Step<'a> {
    if request.pushed.is_some() && facts.looked_up.pushed_is_used {
        return Step::Stop(pushed_is_used());
    }
    let silent = request.prompts.none;
    let done = facts.progress;
    let session = match who(request, facts) {
        Ok(session) => session,
        Err((_, _)) if silent => {
            return refuse(
                ErrorCode::LoginRequired,
                "no session satisfies the request, and prompt is none",
            );
        }
        // Somebody else logged in than the client expects: asking again would go round in circles.
        Err((LoginReason::OtherUser, _)) if done.logged_in_now => {
            return refuse(
                ErrorCode::LoginRequired,
                "another user is logged in than the client asked for",
            );
        }
        Err((reason, acr)) => return Step::Login { reason, acr },
    };
    if let Some(class) = unreached(facts.required, session) {
        if silent {
            return refuse(
                ErrorCode::LoginRequired,
                "the session does not reach the class that is required, and prompt is none",
            );
        }
        return Step::Login {
            reason: LoginReason::StepUp,
            acr: Some(class),
        };
    }
    if request.prompts.select_account && !done.account_selected && !done.logged_in_now {
        return Step::SelectAccount;
    }
    let acr = match context_class(request, session, facts) {
        Ok(acr) => acr,
        Err(step) => return *step,
    };

    let scope = request.scope.of_person(facts.is_admin);
    if scope.is_empty() {
        return refuse(
            ErrorCode::AccessDenied,
            "the person may not grant any of the requested scopes",
        );
    }
    let (rule, claims) = match facts.entry {
        None => (None, request.claims.clone()),
        Some(entry) => {
            let asked = (request, client);
            let (verdict, claims) = entry.decide(asked, session, &scope, facts);
            if !verdict.allowed {
                return Step::Forbid { rule: verdict.rule };
            }
            (verdict.rule, claims)
        }
    };
    match consent_needed(request, client, facts, (&scope, claims.as_ref())) {
        Some(_) if done.consented_now => {}
        Some(_) if silent => {
            return refuse(
                ErrorCode::ConsentRequired,
                "the person has to be asked, and prompt is none",
            );
        }
        Some((new_scope, claims)) => {
            return Step::Consent {
                scope,
                new_scope,
                claims,
            };
        }
        None => {}
    }
    Step::Grant(Granted {
        request,
        session,
        scope,
        acr,
        rule,
        claims,
    })
}

/// The first of the classes that are demanded which the session does not reach. No login that has
/// just been made makes up for it.
fn unreached<'a>(required: &'a [String], session: &Session) -> Option<&'a str> {
    let mut required = required.iter().map(String::as_str);
    required.find(|class| !acr::holds(class, &session.methods))
}

fn refuse<'a>(code: ErrorCode, description: &'static str) -> Step<'a> {
    Step::Refuse(OAuthError::new(code, description))
}

/// The session, if it may answer this request; else why somebody has to log in.
fn who<'a>(
    request: &AuthorizationRequest,
    facts: &Facts<'a>,
) -> Result<&'a Session, (LoginReason, Option<&'static str>)> {
    let wanted = wanted_class(request);
    let session = facts.session.ok_or((LoginReason::NoSession, wanted))?;
    let now = facts.progress.logged_in_now;
    if (request.prompts.login || request.prompts.create) && !now {
        return Err((LoginReason::Prompt, wanted));
    }
    // OpenID Connect Core section 3.1.2.1: max_age counts from the last active authentication.
    if let Some(max_age) = request.max_age
        && facts.now.saturating_sub(session.auth_time) > max_age
        && !now
    {
        return Err((LoginReason::MaxAge, wanted));
    }
    // max_age=0 is prompt=login, also within the second of the last login.
    if request.max_age == Some(0) && !now {
        return Err((LoginReason::MaxAge, wanted));
    }
    if request
        .required_sub
        .as_ref()
        .is_some_and(|sub| *sub != session.user_id)
    {
        return Err((LoginReason::OtherUser, wanted));
    }
    Ok(session)
}

/// The classes that are asked for, best first, and whether one of them must be reached.
fn requested_classes(request: &AuthorizationRequest) -> (&[String], bool) {
    match request.claims.as_ref() {
        Some(claims) => match claims.essential_acr() {
            Some(values) => (values, true),
            None if !claims.voluntary_acr().is_empty() => (claims.voluntary_acr(), false),
            None => (&request.acr_values, false),
        },
        None => (&request.acr_values, false),
    }
}

/// The first class that is asked for and exists here.
fn wanted_class(request: &AuthorizationRequest) -> Option<&'static str> {
    let (wanted, _) = requested_classes(request);
    wanted
        .iter()
        .find_map(|w| acr::CLASSES.iter().map(|c| c.name).find(|name| name == w))
}

/// The `acr` to say: what was done, or a class that it includes and that was asked for (known fault
/// A6).
fn context_class<'a>(
    request: &AuthorizationRequest,
    session: &Session,
    facts: &Facts<'_>,
) -> Result<String, Box<Step<'a>>> {
    let (wanted, essential) = requested_classes(request);
    if wanted.is_empty() || wanted.contains(&session.acr) {
        return Ok(session.acr.clone());
    }
    if let Some(reached) = wanted.iter().find(|w| acr::holds(w, &session.methods)) {
        return Ok(reached.clone());
    }
    let step_up = wanted_class(request);
    match step_up {
        // Somebody who has just logged in is not sent in circles for what was only preferred.
        _ if !essential && (request.prompts.none || facts.progress.logged_in_now) => {
            Ok(session.acr.clone())
        }
        Some(_) if request.prompts.none => Err(Box::new(refuse(
            ErrorCode::LoginRequired,
            "the session does not reach the requested authentication context class",
        ))),
        Some(class) if !facts.progress.logged_in_now => Err(Box::new(Step::Login {
            reason: LoginReason::StepUp,
            acr: Some(class),
        })),
        _ if essential => Err(Box::new(refuse(
            ErrorCode::UnmetAuthenticationRequirements,
            "the requested authentication context class cannot be reached",
        ))),
        _ => Ok(session.acr.clone()),
    }
}

/// What the person has to be asked: (scopes not agreed to before, single claims); None: nothing.
fn consent_needed(
    request: &AuthorizationRequest,
    client: &Client,
    facts: &Facts<'_>,
    (scope, claims): (&ScopeSet, Option<&ClaimsRequest>),
) -> Option<(ScopeSet, Vec<String>)> {
    let claims = claims
        .map(|c| userinfo::claims_beyond_scope(c, scope, facts.registry, client))
        .unwrap_or_default();
    let remembered = facts
        .looked_up
        .consent
        .filter(|_| remembered_consent_counts(request, client))
        // What was agreed to with another client that had this id before, and was removed, says
        // nothing of this one.
        .filter(|consent| consent.granted_at >= client.created_at);
    let new_scope = match remembered {
        Some(consent) => scope.difference(&consent.scope),
        None => scope.clone(),
    };
    let claims_are_covered = remembered
        .is_some_and(|consent| claims.iter().all(|c| consent.claims.contains(c)))
        || claims.is_empty();
    let needed = match client.consent {
        _ if request.prompts.consent => true,
        ConsentPolicy::Skip => false,
        ConsentPolicy::Ask => !new_scope.is_empty() || !claims_are_covered,
    };
    needed.then_some((new_scope, claims))
}

/// RFC 8252 section 8.6: anybody on the machine can use a native app's client_id and its loopback
/// port or scheme, so an earlier yes says nothing about who asks now. A confidential client, or a
/// proven https redirect, does.
fn remembered_consent_counts(request: &AuthorizationRequest, client: &Client) -> bool {
    !client.is_public() || request.return_to.redirect_uri.starts_with("https://")
}
