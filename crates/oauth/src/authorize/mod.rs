//! The authorization endpoint's rules (RFC 6749 section 4.1, OpenID Connect Core section 3.1.2),
//! without its pages.
//!
//! The caller goes through these steps; each takes what the one before gave, so none can be left
//! out:
//!
//! ```text
//! GET or POST /authorize
//!   Incoming::at_authorize(params)       -> Named: the caller reads the client; `resolved`
//!   validate(&resolved, &context)        -> AuthorizationRequest, or AuthorizeError:
//!                                           Page (show it, send nobody anywhere) or Redirect (send `response::error`)
//!   needs(&request, &client, session)    -> Needs: the caller's store is read; `Facts::looked_up`
//!   decide(&request, &client, &facts)    -> Step
//!     Step::Stop(error)                  -> show it, send nobody anywhere
//!     Step::Login { reason }             -> login page; the request travels sealed (`to_bytes`) in the interaction
//!     Step::SelectAccount                -> "continue as ..., or somebody else"
//!     Step::Consent { scope, claims, .. }-> consent page; allow: remember it, set `consented_now`; deny: `response::error(.., &denied())`
//!     Step::Refuse(error)                -> `response::error`
//!     Step::Forbid { rule }              -> `response::error(.., &forbidden())`
//!     Step::Grant(granted)               -> granted.code(ids, ..) , once-row of `request.pushed` committed, sealed, `response::success`
//! after each page: AuthorizationRequest::from_bytes, then decide again with what has been done
//! ```
//!
//! `Facts` holds only what the server itself knows (session, remembered consent, and the progress
//! that the sealed interaction carries): no member of it is ever read from a request (known fault
//! A1). Pushed requests ([`crate::authorize::par`]) and device authorization
//! ([`crate::token::device_authorization`]) run the same table of checks.

pub mod acr;
mod checks;
mod decide;
mod hint;
mod incoming;
pub mod par;
mod pushed;
pub mod redirect_uri;
mod request;
pub mod response;
mod response_mode;
pub mod session_state;

pub use crate::issued::claims::{ClaimRequest, ClaimsRequest};
pub use checks::{AuthorizeError, ErrorReturn, MAX_REQUEST_BYTES, validate};
pub(crate) use checks::{validate_device, validate_pushed};
pub use decide::{
    CodeIds, Entry, Facts, Granted, LoginReason, LookedUp, Needs, Progress, Step, decide, denied,
    forbidden, needs, pushed_is_used,
};
pub use hint::{IdTokenHint, verify_id_token_hint};
pub use incoming::{Incoming, Named, Resolved};
pub(crate) use pushed::MAX_REQUEST_URI_BYTES;
pub use pushed::{URN, is_request_uri};
pub use request::{AuthorizationRequest, PROMPT_VALUES, Prompts, Pushed};
pub use response_mode::{
    Issuing, Outgoing, RESPONSE_MODES, Response, ResponseMode, ReturnTo, with_query,
};

#[cfg(test)]
mod tests;
