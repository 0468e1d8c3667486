//! The admin API over HTTP: a request is read into an operation's input, and its output is
//! answered.
use crate::caller::{Acting, Admin, DPOP};
use crate::facts::{Described, Facts};
use crate::input::{self, Input};
use crate::operation::Operation;
use crate::output::{Output, Reply};
use crate::problem::Problem;
use crate::reason;
use http::{HeaderName, HeaderValue};
use schemars::SchemaGenerator;
use signet_audit::Action;
use signet_oauth::token::dpop_policy::new_nonce;
use signet_request::http::{Context, Response};
use std::pin::Pin;
use std::sync::Arc;

const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// A row without its types, as the routes and the document take it.
pub trait Row: Sync {
    /// What the row says of itself.
    fn facts(&self) -> &Facts;
    /// Its parameters, body and answer, for the OpenAPI document.
    fn describe(&self, generator: &mut SchemaGenerator) -> Described;
    /// Performs it for a caller who is known already, with the input that this request has: what a
    /// page of this server does in place of a program. Rights, record and answer are the same.
    fn perform(
        &'static self,
        acting: Acting,
        context: Context,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;
    /// Answers a request of HTTP.
    fn serve(&'static self, context: Context) -> Pin<Box<dyn Future<Output = Response> + Send>>;
}

impl<I: Input, O: Output> Row for Operation<I, O> {
    fn facts(&self) -> &Facts {
        Operation::facts(self)
    }

    fn describe(&self, generator: &mut SchemaGenerator) -> Described {
        let mut described = Described::default();
        I::describe(&mut described, generator);
        described.status = O::STATUS;
        described.response = O::schema(generator);
        described
    }

    fn perform(
        &'static self,
        acting: Acting,
        context: Context,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>> {
        Box::pin(async move {
            let facts = self.facts();
            let named = names(&context);
            let done = perform(self, &acting, context).await;
            done.map_err(|problem| problem.about(facts.path, &named).needing(facts.needs))
        })
    }

    fn serve(&'static self, context: Context) -> Pin<Box<dyn Future<Output = Response> + Send>> {
        Box::pin(serve(self, context))
    }
}

/// What the path names, as it names it.
fn names(context: &Context) -> Vec<String> {
    context.params.iter().map(|(_, v)| v.clone()).collect()
}

/// Authorizes, performs and answers. Once for all operations: what depends on one's types is behind
/// [`Row::perform`].
async fn serve(row: &'static dyn Row, context: Context) -> Response {
    // RFC 9449 section 8.2: a caller that proves possession receives the next nonce, also with a
    // refusal.
    let nonce = (context.headers.contains_key(DPOP)
        && context.snapshot.settings.dpop_nonce_required)
        .then(|| new_nonce(&context.realm.keyring(), context.now()))
        .flatten();
    let mut answer = match answer(row, context).await {
        Ok(reply) => reply.into_response(),
        Err(problem) => problem.into_response(),
    };
    if let Some(Ok(nonce)) = nonce.map(HeaderValue::try_from) {
        answer.headers_mut().insert(DPOP_NONCE, nonce);
    }
    answer
}

async fn answer(row: &'static dyn Row, context: Context) -> Result<Reply, Problem> {
    let admin = Admin::of_request(&context).await.map_err(|problem| {
        let facts = row.facts();
        let event = context.event(Action::ADMIN).operation(facts.id);
        context.realm.audit().record(event.refused(problem.code()));
        let named = names(&context);
        problem.about(facts.path, &named).needing(facts.needs)
    })?;
    let acting = Acting {
        realm: Arc::clone(&context.realm),
        admin,
        request_id: context.request_id,
        peer: context.peer,
        now_ms: context.now_ms,
    };
    row.perform(acting, context).await
}

async fn perform<I: Input, O: Output>(
    operation: &Operation<I, O>,
    acting: &Acting,
    mut context: Context,
) -> Result<Reply, Problem> {
    let segments = context.params.clone();
    let reason = reason::of(&context.headers)?;
    let input = input::read(operation.facts().method, &mut context);
    let perform = operation.perform(acting, (&segments, reason.as_deref()), input);
    perform.await?.reply()
}
