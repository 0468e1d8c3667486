//! The audit trail: its lines, for people; its segments byte for byte, for whoever verifies them.
use super::{
    call::{Call, Reply},
    model::List,
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use signet_audit::{
    event::{decision_name, outcome_name},
    line::Line,
    read::{self, ReadError},
    segment,
};
use signet_jose::base64url;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

/// Most bytes of a segment in one answer of the admin API
const MAX_CHUNK: u64 = 1048576;

const SHOW: &str = "/admin/v1/audit";
const LINES: &str = "/admin/v1/audit/lines";
const SEGMENT: &str = "/admin/v1/audit/segments/{first}";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("showAudit", Method::Get, SHOW, "Show whose audit trail it is, and its segments", handler!(show))
        .answers::<TrailDocument>(200),
    Operation::new("listAuditLines", Method::Get, LINES, "List lines: those after the line `after`, or from `from` on, or the last ones", handler!(lines))
        .paged().query(&[("from", "the index of the first line")]).answers::<List<LineDocument>>(200),
    Operation::new("readAuditSegment", Method::Get, SEGMENT, "Read a segment's bytes, from `offset` on", handler!(read_segment))
        .query(&[("offset", "the first byte")]).answers::<ChunkDocument>(200),
];

/// The trail.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditTrail")]
struct TrailDocument {
    /// Whose log it is: the id of the server's audit identity.
    id: String,
    /// Its public document.
    document: Value,
    /// Lines are being written; false while the disk refuses them.
    writing: bool,
    /// In order.
    segments: Vec<SegmentDocument>,
}

/// A part of the log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditSegment")]
struct SegmentDocument {
    /// The index of its first line.
    first: u64,
    bytes: u64,
}

/// A line. What is not known of it is left out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditLine")]
pub(super) struct LineDocument {
    /// Its place in the log, from 0.
    index: u64,
    /// When it was decided, Unix milliseconds.
    at_ms: u64,
    /// `token.issue`, `login` and so on.
    action: String,
    /// `allowed`, `denied`, `approved` (by a person) or `none`.
    decision: String,
    /// `success`, `failure` or `unknown`.
    outcome: String,
    /// SHA-256 of the receipt, base64url.
    id: String,
    /// `request_id`, `subject`, `client_id`, `jti`, `grant_id`, `sid`, `actors`, `agent_grants`, `method`, `error`, `operation`, `target`,
    /// `scope`, `audience`, `count`, `since_ms`
    #[serde(flatten)]
    members: Map<String, Value>,
}

/// Bytes of a segment.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditChunk")]
struct ChunkDocument {
    /// Where they begin.
    offset: u64,
    /// base64url; empty: there are no more.
    data: String,
}

impl From<Line> for LineDocument {
    fn from(line: Line) -> LineDocument {
        LineDocument {
            index: line.receipt.index,
            at_ms: line.content.at_ms,
            decision: decision_name(line.receipt.decision).to_owned(),
            outcome: outcome_name(line.receipt.outcome).to_owned(),
            id: line.id.to_string(),
            action: line.receipt.action,
            members: line.content.members,
        }
    }
}

fn directory(call: &Call) -> Result<PathBuf, Problem> {
    let directory = call.realm().audit().directory();
    directory
        .map(ToOwned::to_owned)
        .ok_or_else(Problem::not_found)
}

/// Work on the files, off the runtime's threads.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ReadError> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(ReadError::Io(error))) if error.kind() == io::ErrorKind::NotFound => {
            Err(Problem::not_found())
        }
        Ok(Err(ReadError::Io(error))) => {
            tracing::error!(%error, "the audit trail cannot be read");
            Err(Problem::unavailable())
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "the audit trail does not verify");
            Err(Problem::conflict(
                "audit_broken",
                "the audit trail is not what was written: signet audit verify says where",
            ))
        }
        Err(_) => Err(Problem::unavailable()),
    }
}

async fn show(call: Call) -> Outcome {
    let directory = directory(&call)?;
    let audit = call.realm().audit();
    let document = audit.document().ok_or_else(Problem::not_found)?;
    let written = signet_agent::json::File::of(document.signed()).write();
    let written = written.map_err(|_| Problem::unavailable())?;
    let segments = on_disk(move || {
        let mut found = Vec::new();
        for (first, path) in segment::list(&directory)? {
            let bytes = std::fs::metadata(path)?.len();
            found.push(SegmentDocument { first, bytes });
        }
        Ok(found)
    });
    Reply::ok(&TrailDocument {
        id: document.id().to_string(),
        document: serde_json::from_str(&written).map_err(|_| Problem::unavailable())?,
        writing: audit.is_writing(),
        segments: segments.await?,
    })
}

async fn lines(call: Call) -> Outcome {
    let (page, directory) = (call.page()?, directory(&call)?);
    let params = call.context.query_params()?;
    let index = |text: &str| {
        let index = text.parse::<u64>();
        index.map_err(|_| Problem::invalid("after and from must be the index of a line"))
    };
    let after = page.after.as_deref().map(index).transpose()?;
    let from = params.get("from").map(index).transpose()?;
    let from = after.map(|after| after.saturating_add(1)).or(from);
    let limit = page.limit;
    let found = on_disk(move || read::lines(&directory, from, limit)).await?;
    let full = found.len() == limit;
    let next = found.last().filter(|_| full && from.is_some());
    let next = next.map(|line| line.receipt.index.to_string());
    let items: Vec<LineDocument> = found.into_iter().map(LineDocument::from).collect();
    Reply::ok(&List { items, next })
}

async fn read_segment(call: Call) -> Outcome {
    let directory = directory(&call)?;
    let first = call.segment("first").parse::<u64>();
    let first = first.map_err(|_| Problem::not_found())?;
    let params = call.context.query_params()?;
    let offset = params.get("offset").unwrap_or("0").parse::<u64>();
    let offset = offset.map_err(|_| Problem::invalid("offset must be a number of bytes"))?;
    let chunk = on_disk(move || {
        let mut file = File::open(segment::path(&directory, first))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut data = Vec::new();
        file.take(MAX_CHUNK).read_to_end(&mut data)?;
        Ok(data)
    });
    Reply::ok(&ChunkDocument {
        offset,
        data: base64url::encode(&chunk.await?),
    })
}
