//! Asking the person.
//!
//! The host shows the question (elicitation). Up to protocol version 2025-11-25 the server sends it
//! while the call waits; from 2026-07-28 on the call is answered with the question, and made again
//! with the answer. The second call has to be the first one again, byte for byte of its arguments,
//! within minutes, once: an approval of one thing is none of another.
//!
//! A host that cannot ask has not been given an approval, so nothing is signed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult,
    ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use signet_crypto::{hash::sha256, random};
use signet_encoding::base64url;

/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// Questions that wait at once; further ones are refused.
const MAX_WAITING: usize = 32;

/// The name of the one question of a call.
const QUESTION: &str = "approval";

/// A question that was asked and not yet answered.
struct Asked {
    /// Of the tool and its arguments.
    call: [u8; 32],
    until: Instant,
}

/// Questions of this session.
#[derive(Default)]
pub struct Approvals(Mutex<HashMap<String, Asked>>);

/// Why there is no approval: the call's answer.
pub fn refused(error: &str, description: &str) -> Box<CallToolResponse> {
    let answer = json!({ "error": error, "error_description": description });
    Box::new(CallToolResult::structured_error(answer).into())
}

fn digest(request: &CallToolRequestParams) -> [u8; 32] {
    // Maps of this JSON are sorted by name: the same arguments have the same text.
    let call = json!([request.name, request.arguments]);
    sha256(call.to_string().as_bytes())
}

fn question(message: &str) -> Option<ElicitRequestParams> {
    let schema = json!({
        "type": "object",
        "properties": {
            "approve": {
                "type": "boolean",
                "title": "Approve",
                "description": "Sign this with your identity?",
                "default": false,
            },
        },
        "required": ["approve"],
    });
    let requested_schema = ElicitationSchema::from_json_schema(schema.as_object()?.clone()).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema,
    })
}

fn approves(answer: &ElicitResult) -> bool {
    let approve = |content: &Value| content["approve"] == true;
    answer.action == ElicitationAction::Accept && answer.content.as_ref().is_some_and(approve)
}

const NOT_APPROVED: &str = "the person did not approve it; nothing was signed";

impl Approvals {
    /// Asks whether `message` is approved. `Err`: the call's answer, which is the question itself
    /// where the host carries it.
    pub async fn ask(
        &self,
        message: &str,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), Box<CallToolResponse>> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        // Neither form nor URL named: a form, as hosts before 2025-11-25 mean it.
        let shows_forms = capabilities
            .elicitation
            .is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        if !shows_forms {
            return Err(refused(
                "approval_unavailable",
                "this needs a person's approval, and the host cannot ask for it (elicitation); nothing was signed",
            ));
        }
        let Some(question) = question(message) else {
            return Err(refused("internal_error", "the question cannot be made"));
        };
        let carried_back = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        if carried_back {
            return self.ask_by_answer(question, request);
        }
        let asked = context
            .peer
            .create_elicitation_with_timeout(question, Some(PATIENCE))
            .await;
        match asked {
            Ok(answer) if approves(&answer) => Ok(()),
            Ok(_) => Err(refused("not_approved", NOT_APPROVED)),
            Err(_) => Err(refused(
                "approval_unavailable",
                "the host did not answer the question for approval; nothing was signed",
            )),
        }
    }

    /// The question as the call's answer; or, in the call that comes back with it, the person's
    /// answer.
    fn ask_by_answer(
        &self,
        question: ElicitRequestParams,
        request: &CallToolRequestParams,
    ) -> Result<(), Box<CallToolResponse>> {
        let call = digest(request);
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        waiting.retain(|_, asked| asked.until > now);
        if let Some(state) = &request.request_state {
            // Taken out whatever the answer is: it counts once.
            let asked = waiting.remove(state).filter(|asked| asked.call == call);
            let answer = request
                .input_responses
                .as_ref()
                .and_then(|answers| answers.get(QUESTION))
                .and_then(|answer| serde_json::from_value::<ElicitResult>(answer.clone()).ok());
            return match (asked, answer) {
                (None, _) => Err(refused(
                    "approval_mismatch",
                    "the approval is for another call, was used, or is too old; nothing was signed",
                )),
                (Some(_), Some(answer)) if approves(&answer) => Ok(()),
                (Some(_), _) => Err(refused("not_approved", NOT_APPROVED)),
            };
        }
        if waiting.len() >= MAX_WAITING {
            return Err(refused("busy", "too many questions wait for their answers"));
        }
        let state = base64url::encode(&random::bytes::<16>());
        let until = now + PATIENCE;
        waiting.insert(state.clone(), Asked { call, until });
        let asked = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = [(QUESTION.to_owned(), asked)].into();
        let asked = InputRequiredResult::new(Some(questions), Some(state));
        Err(Box::new(asked.into()))
    }
}
