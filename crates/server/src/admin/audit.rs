//! The audit trail: its lines, for people; its segments byte for byte, for whoever verifies them.
use super::{
    caller::Right::Read,
    input::{Members, Page, Query, Segment},
    model::List,
    operation::{Method, Operation, Row, run},
    output::Json,
    problem::Problem,
};
use crate::state::Realm;
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
    io::{self, Read as _, Seek, SeekFrom},
    path::PathBuf,
    sync::Arc,
};

/// Most bytes of a segment in one answer of the admin API
const MAX_CHUNK: u64 = 1048576;

const SHOW: &str = "/admin/v1/audit";
const LINES: &str = "/admin/v1/audit/lines";
const SEGMENT: &str = "/admin/v1/audit/segments/{first}";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("showAudit", Read, Method::Get, SHOW, "Show whose audit trail it is, and its segments", run!(show)),
    &Operation::new("listAuditLines", Read, Method::Get, LINES, "List lines: those after the line `after`, or from `from` on, or the last ones", run!(lines)),
    &Operation::new("readAuditSegment", Read, Method::Get, SEGMENT, "Read a segment's bytes, from `offset` on", run!(read_segment)),
];

/// Which lines.
struct LineFilter {
    from: Option<u64>,
}

impl Members for LineFilter {
    const MEMBERS: &'static [(&'static str, &'static str)] =
        &[("from", "the index of the first line")];

    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<LineFilter, Problem> {
        let from = member("from").map(index_of).transpose()?;
        Ok(LineFilter { from })
    }
}

fn index_of(text: &str) -> Result<u64, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid("after and from must be the index of a line"))
}

/// A segment, by the index of its first line.
struct First(u64);

impl Segment for First {
    const NAME: &'static str = "first";

    fn parse(text: &str) -> Result<First, Problem> {
        text.parse().map(First).map_err(|_| Problem::not_found())
    }
}

/// Which bytes.
struct Offset(u64);

impl Members for Offset {
    const MEMBERS: &'static [(&'static str, &'static str)] = &[("offset", "the first byte")];

    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<Offset, Problem> {
        let offset = member("offset").unwrap_or("0").parse();
        offset
            .map(Offset)
            .map_err(|_| Problem::invalid("offset must be a number of bytes"))
    }
}

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

fn directory(realm: &Realm) -> Result<PathBuf, Problem> {
    let directory = realm.audit().directory();
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

async fn show(realm: Arc<Realm>, (): ()) -> Result<Json<TrailDocument>, Problem> {
    let directory = directory(&realm)?;
    let audit = realm.audit();
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
    Ok(Json(TrailDocument {
        id: document.id().to_string(),
        document: serde_json::from_str(&written).map_err(|_| Problem::unavailable())?,
        writing: audit.is_writing(),
        segments: segments.await?,
    }))
}

async fn lines(
    realm: Arc<Realm>,
    (page, Query(filter)): (Page, Query<LineFilter>),
) -> Result<Json<List<LineDocument>>, Problem> {
    let directory = directory(&realm)?;
    let after = page.after.as_deref().map(index_of).transpose()?;
    let from = after.map(|after| after.saturating_add(1)).or(filter.from);
    let limit = page.limit;
    let found = on_disk(move || read::lines(&directory, from, limit)).await?;
    let full = found.len() == limit;
    let next = found.last().filter(|_| full && from.is_some());
    let next = next.map(|line| line.receipt.index.to_string());
    let items: Vec<LineDocument> = found.into_iter().map(LineDocument::from).collect();
    Ok(Json(List { items, next }))
}

async fn read_segment(
    realm: Arc<Realm>,
    (First(first), Query(Offset(offset))): (First, Query<Offset>),
) -> Result<Json<ChunkDocument>, Problem> {
    let directory = directory(&realm)?;
    let chunk = on_disk(move || {
        let mut file = File::open(segment::path(&directory, first))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut data = Vec::new();
        file.take(MAX_CHUNK).read_to_end(&mut data)?;
        Ok(data)
    });
    Ok(Json(ChunkDocument {
        offset,
        data: base64url::encode(&chunk.await?),
    }))
}
