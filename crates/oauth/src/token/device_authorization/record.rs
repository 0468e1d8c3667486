//! The record of a device authorization, and its life.
use super::expired;
use crate::codec::{Decoder, Encoder, Undecodable};
use crate::error::{ErrorCode, OAuthError};
use crate::id::{DeviceId, GrantId};
use crate::issued::session::Session;
use crate::scope::ScopeSet;

/// RFC 8628 section 3.5: a poll that comes too soon adds this many seconds.
const SLOW_DOWN_SECONDS: u64 = 5;
const VERSION: u8 = 2;

/// What a device asked for, and its outcome. Stored under its `id`; the user code leads to
/// the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRecord {
    /// random; inside the sealed device code
    pub id: DeviceId,
    /// without dash
    pub user_code: String,
    /// who asked
    pub client_id: String,
    /// what for
    pub scope: ScopeSet,
    /// and where (RFC 8707)
    pub resources: Vec<String>,
    /// seconds between polls
    pub interval: u64,
    /// Unix seconds; 0: never
    pub last_poll: u64,
    /// Unix seconds
    pub expires_at: u64,
    /// its outcome
    pub state: DeviceState,
}

/// The life of a device code: pending, then one of the others; an approved one is consumed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// nobody has decided
    Pending,
    /// a person allowed it
    Approved(Approval),
    /// a person refused
    Denied,
    /// tokens were issued
    Consumed,
}

/// Who approved, as the server's session said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// the grant, and refresh family, that begins with it; random
    pub grant_id: GrantId,
    /// what was allowed: never more than what was asked for
    pub scope: ScopeSet,
    /// the session of that moment
    pub session: Session,
    /// Unix milliseconds
    pub approved_at_ms: u64,
}

/// What a poll answers, and the record that must replace the stored one before it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// the approval, or `authorization_pending`, `slow_down`, `access_denied`, `expired_token`,
    /// `invalid_grant`
    pub answer: Result<Approval, OAuthError>,
    /// None: nothing changes
    pub replace: Option<DeviceRecord>,
}

impl DeviceRecord {
    /// One poll of the token endpoint (sections 3.4 and 3.5), by the client that owns the device
    /// code.
    pub fn poll(&self, client_id: &str, now: u64) -> Poll {
        let fail = |error, replace| Poll {
            answer: Err(error),
            replace,
        };
        if self.client_id != client_id {
            return fail(
                OAuthError::invalid_grant("the device_code is not valid for this client"),
                None,
            );
        }
        if now >= self.expires_at {
            return fail(expired(), None);
        }
        match &self.state {
            DeviceState::Consumed => fail(
                OAuthError::invalid_grant("the device_code has been used"),
                None,
            ),
            DeviceState::Denied => fail(
                OAuthError::new(ErrorCode::AccessDenied, "the person denied the request"),
                None,
            ),
            DeviceState::Approved(approval) => Poll {
                answer: Ok(approval.clone()),
                replace: Some(DeviceRecord {
                    state: DeviceState::Consumed,
                    ..self.clone()
                }),
            },
            DeviceState::Pending => {
                let too_soon = self.last_poll != 0 && now < self.last_poll + self.interval;
                let interval = self.interval + if too_soon { SLOW_DOWN_SECONDS } else { 0 };
                let error = if too_soon {
                    OAuthError::new(
                        ErrorCode::SlowDown,
                        "wait five seconds longer between polls",
                    )
                } else {
                    OAuthError::new(
                        ErrorCode::AuthorizationPending,
                        "the person has not decided yet",
                    )
                };
                let replace = DeviceRecord {
                    last_poll: now,
                    interval,
                    ..self.clone()
                };
                fail(error, Some(replace))
            }
        }
    }

    /// Can a person still decide?
    pub fn is_pending(&self, now: u64) -> bool {
        self.state == DeviceState::Pending && now < self.expires_at
    }

    /// The same, with the moment that an approval bears, Unix milliseconds: where that is not the
    /// moment of the request.
    #[must_use]
    pub fn bearing(mut self, issue_ms: u64) -> DeviceRecord {
        if let DeviceState::Approved(approval) = &mut self.state {
            approval.approved_at_ms = issue_ms;
        }
        self
    }

    /// Allowed by the person whose session the server found (known fault A2: there is no other way
    /// to say who). `is_admin`: without it, the scopes of administration are left out. `grant_id`
    /// is random.
    ///
    /// # Errors
    /// `invalid_request` if it is decided or ended; `access_denied` if no scope is left.
    pub fn approve(
        &self,
        session: &Session,
        is_admin: bool,
        grant_id: GrantId,
        now_ms: u64,
    ) -> Result<DeviceRecord, OAuthError> {
        if !self.is_pending(now_ms / 1000) {
            return Err(decided());
        }
        let scope = self.scope.of_person(is_admin);
        if scope.is_empty() {
            return Err(OAuthError::new(
                ErrorCode::AccessDenied,
                "the person may not grant any of the requested scopes",
            ));
        }
        Ok(DeviceRecord {
            state: DeviceState::Approved(Approval {
                grant_id,
                scope,
                session: session.clone(),
                approved_at_ms: now_ms,
            }),
            ..self.clone()
        })
    }

    /// Refused by a person.
    ///
    /// # Errors
    /// `invalid_request` if it is decided or ended.
    pub fn deny(&self, now: u64) -> Result<DeviceRecord, OAuthError> {
        if !self.is_pending(now) {
            return Err(decided());
        }
        Ok(DeviceRecord {
            state: DeviceState::Denied,
            ..self.clone()
        })
    }

    /// The stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut e = Encoder::new(VERSION);
        e.fixed(self.id.as_bytes())
            .text(&self.user_code)
            .text(&self.client_id)
            .text(&self.scope.to_string())
            .texts(self.resources.iter().map(String::as_str))
            .number(self.interval)
            .number(self.last_poll)
            .number(self.expires_at);
        match &self.state {
            DeviceState::Pending => e.number(0),
            DeviceState::Denied => e.number(2),
            DeviceState::Consumed => e.number(3),
            DeviceState::Approved(a) => e
                .number(1)
                .fixed(a.grant_id.as_bytes())
                .text(&a.scope.to_string())
                .text(&a.session.sid)
                .text(&a.session.user_id)
                .number(a.session.auth_time)
                .text(&a.session.acr)
                .texts(a.session.amr.iter().map(String::as_str))
                .number(a.session.ends_at)
                .number(a.approved_at_ms),
        };
        e.finish()
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// The row is of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<DeviceRecord, Undecodable> {
        let scope = |text| ScopeSet::parse(text).map_err(|_| Undecodable);
        let mut d = Decoder::new(bytes, VERSION)?;
        let record = DeviceRecord {
            id: DeviceId::new(d.fixed()?),
            user_code: d.string()?,
            client_id: d.string()?,
            scope: scope(d.text()?)?,
            resources: d.strings()?,
            interval: d.number()?,
            last_poll: d.number()?,
            expires_at: d.number()?,
            state: match d.number()? {
                0 => DeviceState::Pending,
                1 => DeviceState::Approved(Approval {
                    grant_id: GrantId::new(d.fixed()?),
                    scope: scope(d.text()?)?,
                    session: Session {
                        sid: d.string()?,
                        user_id: d.string()?,
                        auth_time: d.number()?,
                        acr: d.string()?,
                        amr: d.strings()?,
                        // What was decided by them was decided when the device was allowed.
                        methods: Vec::new(),
                        ends_at: d.number()?,
                    },
                    approved_at_ms: d.number()?,
                }),
                2 => DeviceState::Denied,
                3 => DeviceState::Consumed,
                _ => return Err(Undecodable),
            },
        };
        d.finish()?;
        Ok(record)
    }
}

fn decided() -> OAuthError {
    OAuthError::invalid_request("the code has been decided already, or has expired")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record() -> DeviceRecord {
        DeviceRecord {
            id: DeviceId::new([1; 16]),
            user_code: "WDJBMJHT".into(),
            client_id: "tv".into(),
            scope: ScopeSet::parse("openid signet:admin").unwrap(),
            resources: Vec::new(),
            interval: 5,
            last_poll: 0,
            expires_at: 1600,
            state: DeviceState::Pending,
        }
    }
    fn session() -> Session {
        Session {
            sid: "s".into(),
            user_id: "alice".into(),
            auth_time: 900,
            acr: "a".into(),
            amr: vec!["pwd".into()],
            methods: Vec::new(),
            ends_at: u64::MAX,
        }
    }
    fn code(poll: &Poll) -> ErrorCode {
        poll.answer.as_ref().unwrap_err().code
    }

    #[test]
    fn a_poll_that_comes_too_soon_slows_down() {
        let first = record().poll("tv", 1000);
        assert_eq!(code(&first), ErrorCode::AuthorizationPending);
        let stored = first.replace.unwrap();
        let second = stored.poll("tv", 1003);
        assert_eq!(code(&second), ErrorCode::SlowDown);
        let stored = second.replace.unwrap();
        assert_eq!(stored.interval, 10);
        assert_eq!(
            code(&stored.poll("tv", 1013)),
            ErrorCode::AuthorizationPending
        );
    }

    #[test]
    fn an_approved_code_gives_tokens_once() {
        let approved = record()
            .approve(&session(), true, GrantId::new([2; 16]), 1_001_000)
            .unwrap();
        let poll = approved.poll("tv", 1002);
        assert_eq!(poll.answer.unwrap().session.user_id, "alice");
        let consumed = poll.replace.unwrap();
        assert_eq!(code(&consumed.poll("tv", 1003)), ErrorCode::InvalidGrant);
        assert!(
            approved
                .approve(&session(), true, GrantId::new([3; 16]), 1_002_000)
                .is_err()
        );
        assert!(approved.deny(1002).is_err());
    }

    #[test]
    fn a_denied_or_ended_code_gives_none_and_another_client_gets_none() {
        let denied = record().deny(1001).unwrap();
        assert_eq!(code(&denied.poll("tv", 1002)), ErrorCode::AccessDenied);
        assert_eq!(code(&record().poll("tv", 1600)), ErrorCode::ExpiredToken);
        assert_eq!(code(&record().poll("other", 1000)), ErrorCode::InvalidGrant);
        assert!(
            record()
                .approve(&session(), true, GrantId::new([2; 16]), 1_600_000)
                .is_err()
        );
    }

    #[test]
    fn approval_never_grants_the_admin_scope_without_the_admin_flag() {
        let approved = record()
            .approve(&session(), false, GrantId::new([2; 16]), 1_001_000)
            .unwrap();
        let DeviceState::Approved(approval) = approved.state else {
            panic!("approved");
        };
        assert_eq!(approval.scope.to_string(), "openid");
    }

    #[test]
    fn a_record_survives_its_encoding() {
        let approved = record()
            .approve(&session(), true, GrantId::new([2; 16]), 1_001_000)
            .unwrap();
        for r in [record(), approved, record().deny(1).unwrap()] {
            assert_eq!(DeviceRecord::from_bytes(&r.to_bytes()), Ok(r));
        }
    }

    proptest! {
        #[test]
        fn reading_any_bytes_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            if let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            let _ = DeviceRecord::from_bytes(&bytes);
        }
    }
}
