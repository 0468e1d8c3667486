//! The session: from a call to its answer.

use std::path::{Path, PathBuf};

use rmcp::RoleServer;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use signet_agent::capability::Capability;
use signet_agent::grant::Grant;
use signet_agent::identity::VerifiedDocument;
use signet_agent::json::File;
use signet_agent::object::{Object, Signed};
use signet_agent::receipt::{Decision, Outcome, Receipt};
use signet_agent::{Hash, Refusal, SigningKeys, anchor::Anchors, base64url};

use super::tools::{self, CheckGrant, Ended, MakeGrant, Nothing, SignReceipt};
use crate::cli::agent::{chain, files, grant, now, now_ms};
use signet_config::duration::Duration;
use signet_mcp::approval::{Approvals, refused};
use signet_mcp::policy::{Policy, Verdict, Wanted};
use signet_mcp::question;
use signet_terminal::Failure;

/// Most files of a directory of grants that are read.
const MAX_GRANTS: usize = 1000;

/// Longest text of a receipt in bytes: it passes through a model.
const MAX_TEXT: usize = 1024 * 1024;

/// One identity, and what it may sign.
pub struct Server {
    document: VerifiedDocument,
    keys: SigningKeys,
    policy: Policy,
    grants: Vec<PathBuf>,
    approvals: Approvals,
}

/// The answer to a call that cannot be done, as the model reads it.
type Answer<T> = Result<T, Box<CallToolResponse>>;

fn wrong(argument: &str, description: impl std::fmt::Display) -> Box<CallToolResponse> {
    refused("invalid_arguments", &format!("{argument}: {description}"))
}

fn arguments<T: DeserializeOwned>(request: &CallToolRequestParams) -> Answer<T> {
    let given = request.arguments.clone().unwrap_or_default();
    serde_json::from_value(Value::Object(given))
        .map_err(|e| refused("invalid_arguments", &e.to_string()))
}

/// An object that came as JSON; what it claims is not verified yet.
fn file(name: &str, value: &Map<String, Value>) -> Answer<File> {
    // Invariant: a JSON value always serializes.
    let text = serde_json::to_vec(value).unwrap_or_default();
    File::read(&text).map_err(|reason| wrong(name, reason))
}

fn object<T: Object>(name: &str, value: &Map<String, Value>) -> Answer<(Signed<T>, File)> {
    let file = file(name, value)?;
    let signed = file.object().map_err(|reason| wrong(name, reason))?;
    Ok((signed, file))
}

fn as_json(file: &File) -> Answer<Value> {
    let text = file
        .write()
        .map_err(|reason| refused(reason.name(), &reason.to_string()))?;
    serde_json::from_str(&text).map_err(|e| refused("internal_error", &e.to_string()))
}

fn failed(failure: &Failure) -> Box<CallToolResponse> {
    refused(failure.error(), failure.description())
}

/// Every grant in these files and directories that is to this identity.
pub fn held(
    paths: &[PathBuf],
    document: &VerifiedDocument,
) -> Result<Vec<(Signed<Grant>, File)>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        for path in listed(path)? {
            let file = match files::object(&path) {
                Ok(file) => file,
                // In a directory there may be other things.
                Err(_) if !paths.contains(&path) => continue,
                Err(failure) => return Err(failure),
            };
            if let Ok(grant) = file.object::<Grant>()
                && grant.body().to.agent == document.id()
            {
                found.push((grant, file));
            }
        }
    }
    Ok(found)
}

fn listed(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let failed =
        |e: std::io::Error| Failure::unusable(format!("cannot read {}: {e}", path.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)?.take(MAX_GRANTS) {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

impl Server {
    pub fn new(
        document: VerifiedDocument,
        keys: SigningKeys,
        policy: Policy,
        grants: Vec<PathBuf>,
    ) -> Server {
        Server {
            document,
            keys,
            policy,
            grants,
            approvals: Approvals::default(),
        }
    }

    fn who_am_i(&self) -> Answer<Value> {
        let keys = self.document.current().set();
        let public: Vec<String> = keys.iter().map(|(_, key)| base64url::encode(key)).collect();
        Ok(json!({
            "id": self.document.id().to_string(),
            "name": self.document.body().name,
            "suite": keys.suite().name(),
            "key_number": self.document.by().key,
            "public_key": public,
            "document": as_json(&File::of(self.document.signed()))?,
        }))
    }

    fn list_grants(&self) -> Answer<Value> {
        let now = now();
        let mut grants = Vec::new();
        for (grant, file) in held(&self.grants, &self.document).map_err(|f| failed(&f))? {
            let body = grant.body();
            let status = match body.check_time(now, 0) {
                Ok(()) => "current",
                Err(_) if now < body.not_before => "not_yet",
                Err(_) => "ended",
            };
            let capabilities: Vec<_> = body.capabilities.iter().map(Capability::as_str).collect();
            let mut shown = json!({
                "id": grant.id().to_string(),
                "from": body.by.agent.to_string(),
                "capabilities": capabilities,
                "not_before": body.not_before,
                "not_after": body.not_after,
                "max_depth": body.max_depth,
                "status": status,
                "grant": as_json(&file)?,
            });
            if let Some(parent) = &body.parent {
                shown["parent"] = parent.to_string().into();
            }
            grants.push(shown);
        }
        Ok(json!({ "grants": grants }))
    }

    /// Asks policy and person. Who approved it.
    async fn approve(
        &self,
        wanted: &Wanted<'_>,
        message: &str,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Answer<Decision> {
        match self.policy.decide(wanted) {
            Verdict::Allow => Ok(Decision::Allowed),
            Verdict::Refuse => Err(refused(
                "refused_by_policy",
                "the policy refuses this; nothing was signed",
            )),
            Verdict::Ask => self
                .approvals
                .ask(message, request, context)
                .await
                .map(|()| Decision::Approved),
        }
    }

    async fn sign_receipt(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Answer<Value> {
        let wanted: SignReceipt = arguments(request)?;
        if wanted.content.len() > MAX_TEXT
            || wanted.input.as_ref().is_some_and(|i| i.len() > MAX_TEXT)
        {
            return Err(wrong("content", "at most 1048576 bytes"));
        }
        let mut body = Receipt::new(self.document.by(), &wanted.action, now_ms())
            .with_content(wanted.content.as_bytes());
        body.input = wanted
            .input
            .as_ref()
            .map(|input| Hash::of(input.as_bytes()));
        body.outcome = match wanted.outcome {
            None => Outcome::Unknown,
            Some(Ended::Success) => Outcome::Success,
            Some(Ended::Failure) => Outcome::Failure,
        };
        if let Some(value) = &wanted.grant {
            body.grant = Some(object::<Grant>("grant", value)?.0.id());
        }
        if let Some(value) = &wanted.previous {
            let (previous, _) = object::<Receipt>("previous", value)?;
            // A receipt that follows what one did not sign would follow a forgery.
            previous
                .verify_by(&self.document, &Anchors::none())
                .map_err(|reason| wrong("previous", reason))?;
            body = body.after(&previous);
            body.at_ms = body.at_ms.max(previous.body().at_ms);
        }
        // What could not be signed is neither judged nor asked about.
        Receipt::from_payload(&body.payload()).map_err(|reason| wrong("action", reason))?;
        let policy = Wanted::Receipt {
            action: &wanted.action,
        };
        let message = question::of_receipt(
            &self.document,
            &body,
            &wanted.content,
            wanted.input.as_deref(),
        );
        let decision = self.approve(&policy, &message, request, context).await?;
        body.decision = decision;
        body.policy = "mcp".to_owned();
        self.signed(&body, decision)
    }

    async fn make_grant(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Answer<Value> {
        let wanted: MakeGrant = arguments(request)?;
        let to = object("to", &wanted.to)?.0;
        let to = VerifiedDocument::new(to).map_err(|reason| wrong("to", reason))?;
        let capabilities = wanted
            .capabilities
            .iter()
            .map(|text| grant::capability(text));
        let capabilities: Vec<Capability> = capabilities
            .collect::<Result<_, _>>()
            .map_err(|e| wrong("capabilities", e))?;
        let expires_in = Duration::parse(&wanted.expires_in).map_err(|e| wrong("expires_in", e))?;
        let (constraints, not_before) = grant::constraints(&wanted.constraints)
            .map_err(|failure| wrong("constraints", failure.description()))?;
        let mut body = Grant::new(self.document.by(), &to, capabilities, now(), expires_in.0);
        body.max_depth = wanted.max_depth;
        body.constraints = constraints;
        body.not_before = not_before;
        let mut delegated = None;
        if let Some(value) = &wanted.parent {
            let (parent, file) = object::<Grant>("parent", value)?;
            if parent.body().to.agent != self.document.id() {
                return Err(wrong("parent", "it is to another identity"));
            }
            if let Some(signer) = &file.signer {
                parent
                    .verify_by(signer, &Anchors::none())
                    .map_err(|reason| wrong("parent", reason))?;
            }
            body = body
                .under(&parent)
                .map_err(|reason| refused(reason.name(), &reason.to_string()))?;
            delegated = Some(parent);
        }
        // What could not be signed is not asked about.
        Grant::from_payload(&body.payload())
            .map_err(|reason| refused(reason.name(), &reason.to_string()))?;
        let lasts = body.not_after.saturating_sub(now());
        let policy = Wanted::Grant {
            capabilities: &body.capabilities,
            lasts,
            depth: body.max_depth,
        };
        let message = question::of_grant(&self.document, &body, &to, delegated.as_ref(), now());
        let decision = self.approve(&policy, &message, request, context).await?;
        self.signed(&body, decision)
    }

    fn signed<T: Object>(&self, body: &T, decision: Decision) -> Answer<Value> {
        let signed = Signed::sign(body, &self.document.signer(&self.keys))
            .map_err(|reason: Refusal| refused(reason.name(), &reason.to_string()))?;
        let by = if decision == Decision::Approved {
            "person"
        } else {
            "policy"
        };
        Ok(json!({
            "id": signed.id().to_string(),
            "object": as_json(&File::of(&signed).with_signer(&self.document))?,
            "approved_by": by,
        }))
    }

    fn check_grant(&self, request: &CallToolRequestParams) -> Answer<Value> {
        let wanted: CheckGrant = arguments(request)?;
        let root = object("root", &wanted.root)?.0;
        let root = VerifiedDocument::new(root).map_err(|reason| wrong("root", reason))?;
        let capability =
            grant::capability(&wanted.capability).map_err(|e| wrong("capability", e))?;
        let mut given = Vec::new();
        for value in &wanted.grants {
            given.push(file("grants", value)?);
        }
        let proof = match &wanted.proof {
            Some(value) => Some(file("proof", value)?),
            None => None,
        };
        chain::check_given(root, &capability, given, proof, &wanted.context).map_err(|f| failed(&f))
    }

    async fn call(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<Answer<Value>> {
        Some(match &*request.name {
            "who_am_i" => arguments::<Nothing>(request).and_then(|_| self.who_am_i()),
            "list_grants" => arguments::<Nothing>(request).and_then(|_| self.list_grants()),
            "check_grant" => self.check_grant(request),
            "sign_receipt" => self.sign_receipt(request, context).await,
            "make_grant" => self.make_grant(request, context).await,
            _ => return None,
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("signet", env!("CARGO_PKG_VERSION")))
            .with_instructions(
                "Signs receipts and grants as one agent identity. What signs may ask the person for approval; an answer with an error was not signed.",
            )
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.call(&request, &context).await {
            Some(Ok(answer)) => Ok(CallToolResult::structured(answer).into()),
            Some(Err(answer)) => Ok(*answer),
            None => Err(ErrorData::invalid_params(
                format!("there is no tool {:?}", request.name),
                None,
            )),
        }
    }
}
