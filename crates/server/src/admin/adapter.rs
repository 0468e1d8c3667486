//! The admin API over HTTP: a request is read into an operation's input, and its output is
//! answered.
use super::{
    caller::{Acting, Admin},
    input::{self, Input},
    operation::{Operation, Row},
    output::{Output, Reply},
    problem::Problem,
};
use crate::http::{Context, Response};
use http::{HeaderName, HeaderValue};
use signet_audit::Action;
use signet_oauth::dpop_policy::new_nonce;
use std::sync::Arc;

pub(super) const DPOP: HeaderName = HeaderName::from_static("dpop");
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// Authorizes, reads, performs and answers.
pub(super) async fn serve<I: Input, O: Output>(
    operation: &'static Operation<I, O>,
    context: Context,
) -> Response {
    let facts = operation.facts();
    // RFC 9449 section 8.2: who proves possession is told the next nonce, also with a refusal.
    let nonce = (context.headers.contains_key(DPOP)
        && context.snapshot.settings.dpop_nonce_required)
        .then(|| new_nonce(&context.realm.keyring(), context.now()))
        .flatten();
    let named: Vec<String> = context.params.iter().map(|(_, v)| v.clone()).collect();
    let mut answer = match answer(operation, context, &named).await {
        Ok(reply) => reply.into_response(),
        Err(problem) => problem
            .about(facts.path, &named)
            .needing(facts.needs)
            .into_response(),
    };
    if let Some(Ok(nonce)) = nonce.map(HeaderValue::try_from) {
        answer.headers_mut().insert(DPOP_NONCE, nonce);
    }
    answer
}

async fn answer<I: Input, O: Output>(
    operation: &Operation<I, O>,
    mut context: Context,
    named: &[String],
) -> Result<Reply, Problem> {
    let admin = Admin::of_request(&context).await.inspect_err(|problem| {
        let event = context.event(Action::ADMIN);
        let event = event.operation(operation.facts().id);
        context.realm.audit().record(event.refused(problem.code()));
    })?;
    let acting = Acting {
        realm: Arc::clone(&context.realm),
        admin,
        request_id: context.request_id,
        peer: context.peer,
        now_ms: context.now_ms,
    };
    let input = input::read(operation.facts().method, &mut context);
    // What the path names, as it names it.
    let target = named.join("/");
    operation.perform(&acting, &target, input).await?.reply()
}
