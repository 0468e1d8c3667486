//! One row of the admin API, and how it is performed.
//!
//! An operation is typed: it reads an input, whoever made it, and gives an output, whoever shows
//! it. That JSON over HTTP is one way to it is known to [`super::adapter`] alone.
use super::{
    caller::{Acting, Right},
    input::Input,
    output::Output,
    problem::Problem,
};
use crate::{
    http::{Context, Response},
    state::Realm,
};
use schemars::{Schema, SchemaGenerator};
use signet_audit::{Action, Counted, Event};
use std::{pin::Pin, sync::Arc};

pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;
type Running<O> = Pin<Box<dyn Future<Output = Result<O, Problem>> + Send>>;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

impl Method {
    pub(super) const fn lower_case(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Post => "post",
            Method::Put => "put",
            Method::Delete => "delete",
        }
    }

    pub(super) fn http(self) -> http::Method {
        match self {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Delete => http::Method::DELETE,
        }
    }
}

/// What a row says of itself, whatever its types.
pub(super) struct Facts {
    pub(super) id: &'static str,
    /// What its caller must be allowed.
    pub(super) needs: Right,
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
}

pub(super) struct Operation<I, O> {
    facts: Facts,
    run: fn(Arc<Realm>, I) -> Running<O>,
}

impl<I, O> Operation<I, O> {
    pub(super) const fn new(
        id: &'static str,
        needs: Right,
        method: Method,
        path: &'static str,
        summary: &'static str,
        run: fn(Arc<Realm>, I) -> Running<O>,
    ) -> Operation<I, O> {
        Operation {
            facts: Facts {
                id,
                needs,
                method,
                path,
                summary,
            },
            run,
        }
    }

    /// Performs it, if the administrator may, and has it recorded. `target`: what it is about, for
    /// the record. The input is read once the caller is known to be allowed; what is wrong with it
    /// is a refusal like others.
    ///
    /// # Errors
    /// `insufficient_scope` for an administrator without the right; what is wrong with the input;
    /// what the operation itself refuses.
    pub(super) async fn perform(
        &self,
        acting: &Acting,
        target: &str,
        input: impl Future<Output = Result<I, Problem>> + Send,
    ) -> Result<O, Problem> {
        let facts = &self.facts;
        let (realm, who) = (&acting.realm, acting.admin.who.as_str());
        let audit = realm.audit();
        let event = Event::new(Action::ADMIN, acting.now_ms)
            .request(acting.request_id.as_str())
            .address(acting.peer)
            .subject(who)
            .operation(facts.id)
            .target(target);
        if !acting.admin.role.may(facts.needs) {
            let problem = Problem::insufficient_scope("the caller may read, and change nothing");
            audit.record(event.refused(problem.code()));
            return Err(problem);
        }
        let work = async { (self.run)(Arc::clone(realm), input.await?).await };
        match facts.needs {
            Right::Read => {
                let done = work.await;
                audit.count(Counted::AdminRead, who, done.is_ok());
                done
            }
            Right::Write => {
                let done = audit.act(event, work, Problem::code).await;
                let result = done.as_ref().map_or_else(Problem::code, |_| "done");
                let request_id = acting.request_id;
                tracing::info!(%request_id, peer = %acting.peer, operation = facts.id, caller = who, result, "administration");
                done
            }
        }
    }
}

/// What the document says of an operation's input and output.
#[derive(Default)]
pub(super) struct Described {
    /// OpenAPI's parameter objects.
    pub(super) parameters: Vec<serde_json::Value>,
    pub(super) request: Option<Schema>,
    pub(super) response: Option<Schema>,
    /// Of success.
    pub(super) status: u16,
}

/// A row without its types, as the routes and the document take it.
pub(super) trait Row: Sync {
    fn facts(&self) -> &Facts;
    fn describe(&self, generator: &mut SchemaGenerator) -> Described;
    /// Answers a request of HTTP.
    fn serve(&'static self, context: Context) -> Pin<Box<dyn Future<Output = Response> + Send>>;
}

impl<I: Input, O: Output> Row for Operation<I, O> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn describe(&self, generator: &mut SchemaGenerator) -> Described {
        let mut described = Described::default();
        I::describe(&mut described, generator);
        described.status = O::STATUS;
        described.response = O::schema(generator);
        described
    }

    fn serve(&'static self, context: Context) -> Pin<Box<dyn Future<Output = Response> + Send>> {
        Box::pin(super::adapter::serve(self, context))
    }
}

/// An `async fn(Arc<Realm>, I) -> Result<O, Problem>` as a row's.
macro_rules! run {
    ($run:path) => {
        |realm, input| Box::pin($run(realm, input))
    };
}
pub(super) use run;
