//! A request as it arrives, before any rule has run: what it names is read first, so that a rule
//! never waits and never guesses where a client is kept.
//!
//! A request object (RFC 9101) or a client's document is a further [`Form`]: it names what has to
//! be read besides the client, and gives the parameters that the rules see.
use super::pushed;
use crate::{client::Client, params::Params};
use std::sync::Arc;

/// The form that the parameters of a request have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// the parameters themselves
    Plain,
    /// the `request_uri` of a pushed request (RFC 9126 section 4)
    Pushed,
}

/// A request at `/authorize` or `/par`, which nobody has checked.
#[derive(Debug)]
pub struct Incoming {
    params: Params,
    form: Form,
}

/// What the caller reads before the rules run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// the client, as the request says; it may be none
    pub client_id: Option<&'a str>,
}

/// A request whose names have been looked up. The rules see nothing else of it.
#[derive(Debug)]
pub struct Resolved {
    pub(super) params: Params,
    pub(super) form: Form,
    pub(super) client: Option<Arc<Client>>,
}

impl Incoming {
    /// A request at `/authorize`: its parameters, or the `request_uri` of what was pushed.
    pub fn at_authorize(params: Params) -> Incoming {
        let form = match params.get("request_uri") {
            Some(uri) if pushed::is_request_uri(uri) => Form::Pushed,
            _ => Form::Plain,
        };
        Incoming { params, form }
    }

    /// A request that is pushed: a `request_uri` inside it is no form, but an error (RFC 9126
    /// section 2.1).
    pub fn at_par(params: Params) -> Incoming {
        Incoming {
            params,
            form: Form::Plain,
        }
    }

    /// What has to be read for the rules.
    pub fn named(&self) -> Named<'_> {
        Named {
            client_id: self.params.get("client_id"),
        }
    }

    /// With the client that it names, or none where there is no such client. At `/par` it is the
    /// authenticated one.
    pub fn resolved(self, client: Option<Arc<Client>>) -> Resolved {
        Resolved {
            params: self.params,
            form: self.form,
            client,
        }
    }
}

impl Resolved {
    /// The client, where the request names one that there is.
    pub fn client(&self) -> Option<&Arc<Client>> {
        self.client.as_ref()
    }
}
