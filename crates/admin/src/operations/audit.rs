//! The audit trail: its lines, for people; its segments byte for byte, for whoever verifies them.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use signet_agent::Refusal;
use signet_audit::{
    NodeId, Places,
    event::{decision_name, outcome_name},
    line::Line,
    read::{self, Frames, ReadError},
    segment::{self, Form},
    verify::{Broken, Signatures, Verified, Verifier},
};
use signet_encoding::base64url;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Members, Page, Query, Segment};
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Read;
use signet_realm::state::Realm;
use std::{
    io::{self, Read as _},
    sync::Arc,
    time::Duration,
};

/// Most bytes of a segment in one answer of the admin API
const MAX_CHUNK: u64 = 1048576;

const SHOW: &str = "/admin/v1/audit";
const LINES: &str = "/admin/v1/audit/lines";
const SEGMENT: &str = "/admin/v1/audit/segments/{first}";
const VERIFICATION: &str = "/admin/v1/audit/verification";

/// Most bytes of segments that the server itself verifies at once
const MAX_VERIFIED: u64 = 67108864;
/// A batch that is being written is whole a moment later.
const TRIES: usize = 5;
const BETWEEN: Duration = Duration::from_millis(300);

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("showAudit", Area::Audit, Read, Method::Get, SHOW, "Show whose audit trail it is, and its segments", run!(show)),
    &Operation::new("listAuditLines", Area::Audit, Read, Method::Get, LINES, "List lines: those after the line `after`, or from `from` on, or the last ones", run!(lines)),
    &Operation::new("readAuditSegment", Area::Audit, Read, Method::Get, SEGMENT, "Read a segment's bytes, from `offset` on", run!(read_segment)),
    &Operation::new("verifyAudit", Area::Audit, Read, Method::Get, VERIFICATION, "Verify the lines that this server can still read: the chain of hashes, and every signature", run!(verify)),
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
    /// Whose log it is: the id of the node's audit identity.
    id: String,
    /// The node's name.
    node: String,
    /// Its public document.
    document: Value,
    /// Lines are being written; false while the disk refuses them.
    writing: bool,
    /// Closed segments leave for an archive, or are removed by rule; those that this server can
    /// still read, in order.
    segments: Vec<SegmentDocument>,
}

/// A part of the log.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditSegment")]
struct SegmentDocument {
    /// The index of its first line.
    first: u64,
    /// On the disk.
    bytes: u64,
    /// It is closed, and lies there compressed; what is read of it is not.
    compressed: bool,
}

/// A line. What is not known of it is left out.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditLine")]
pub(crate) struct LineDocument {
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
    /// `request_id`, `address`, `subject`, `client_id`, `jti`, `grant_id`, `sid`, `actors`,
    /// `agent_grants`, `method`, `error`, `operation`, `target`, `target_name`, `reason`,
    /// `changed`, `scope`,
    /// `audience`, `count`, `since_ms`, `segment`, `node`
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

fn log(realm: &Realm) -> Result<(Places, NodeId), Problem> {
    let audit = realm.audit();
    match (audit.places(), audit.node()) {
        (Some(places), Some(node)) => Ok((places.clone(), node.clone())),
        (None, _) | (_, None) => Err(Problem::not_found()),
    }
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
            tracing::error!(%error, "failed to read the audit trail");
            Err(Problem::unavailable())
        }
        Ok(Err(error)) => {
            tracing::error!(%error, "failed to verify the audit trail");
            Err(Problem::conflict(
                "audit_broken",
                "the audit trail is not what was written: signet audit verify says where",
            ))
        }
        Err(_) => Err(Problem::unavailable()),
    }
}

async fn show(realm: Arc<Realm>, (): ()) -> Result<Json<TrailDocument>, Problem> {
    let (places, node) = log(&realm)?;
    let name = node.to_string();
    let audit = realm.audit();
    let document = audit.document().ok_or_else(Problem::not_found)?;
    let written = signet_agent::json::File::of(document.signed()).write();
    let written = written.map_err(|_| Problem::unavailable())?;
    let segments = on_disk(move || {
        let mut found = Vec::new();
        for segment in places.of(&node)? {
            found.push(SegmentDocument {
                first: segment.first,
                bytes: segment.bytes()?,
                compressed: segment.form == Form::Compressed,
            });
        }
        Ok(found)
    });
    Ok(Json(TrailDocument {
        id: document.id().to_string(),
        node: name,
        document: serde_json::from_str(&written).map_err(|_| Problem::unavailable())?,
        writing: audit.is_writing(),
        segments: segments.await?,
    }))
}

async fn lines(
    realm: Arc<Realm>,
    (page, Query(filter)): (Page, Query<LineFilter>),
) -> Result<Json<List<LineDocument>>, Problem> {
    let (places, node) = log(&realm)?;
    let after = page.after.as_deref().map(index_of).transpose()?;
    let from = after.map(|after| after.saturating_add(1)).or(filter.from);
    let limit = page.limit;
    let found = on_disk(move || read::lines(&places.of(&node)?, from, limit)).await?;
    let full = found.len() == limit;
    let next = found.last().filter(|_| full && from.is_some());
    let next = next.map(|line| line.receipt.index.to_string());
    let items: Vec<LineDocument> = found.into_iter().map(LineDocument::from).collect();
    Ok(Json(List { items, next }))
}

/// Whether the trail is what was written. What a server says of itself is worth as much as the
/// server: `signet audit verify` asks nobody.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditVerification")]
struct VerificationDocument {
    verified: bool,
    /// The index of the first line that was there.
    first: u64,
    /// The index behind the last line; of a trail that does not verify, the line at which it fails.
    line: u64,
    /// Checkpoints whose signatures hold.
    checkpoints: u64,
    /// Lines that say that others are missing.
    gaps: u64,
    /// Why it does not verify.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Verifies every segment, one after the other.
fn verify_all(segments: &[segment::Segment]) -> Result<Result<Verified, Broken>, ReadError> {
    let mut verifier = Verifier::new(None, None, Signatures::All);
    for segment in segments {
        let mut frames = Frames::new(segment.open()?);
        loop {
            let next = verifier.next_line();
            let broken = |reason| Ok(Err(Broken::at(next, reason, format!("line {next}"))));
            match frames.next_frame() {
                Ok(Some(frame)) => {
                    if let Err(broken) = verifier.frame(&frame) {
                        return Ok(Err(broken));
                    }
                }
                Ok(None) => break,
                Err(ReadError::Torn) => return broken(Refusal::LogUnsigned),
                Err(ReadError::Broken(reason)) => return broken(reason),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(verifier.finish())
}

async fn verify(realm: Arc<Realm>, (): ()) -> Result<Json<VerificationDocument>, Problem> {
    let (places, node) = log(&realm)?;
    for left in (0..TRIES).rev() {
        let (places, node) = (places.clone(), node.clone());
        let done = on_disk(move || {
            let segments = places.of(&node)?;
            let sizes = segments.iter().map(segment::Segment::bytes);
            let bytes = sizes.sum::<io::Result<u64>>()?;
            match bytes > MAX_VERIFIED {
                true => Ok(None),
                false => verify_all(&segments).map(Some),
            }
        });
        match done.await? {
            None => {
                return Err(Problem::invalid(format!(
                    "the trail is longer than {MAX_VERIFIED} bytes: signet audit verify reads all of it"
                )));
            }
            Some(Err(broken)) if broken.reason == Refusal::LogUnsigned && left > 0 => {
                tokio::time::sleep(BETWEEN).await;
            }
            Some(Err(broken)) => {
                return Ok(Json(VerificationDocument {
                    verified: false,
                    first: 0,
                    line: broken.line,
                    checkpoints: 0,
                    gaps: 0,
                    reason: Some(broken.to_string()),
                }));
            }
            Some(Ok(verified)) => {
                return Ok(Json(VerificationDocument {
                    verified: true,
                    first: verified.first,
                    line: verified.lines,
                    checkpoints: verified.checkpoints,
                    gaps: verified.gaps,
                    reason: None,
                }));
            }
        }
    }
    Err(Problem::unavailable())
}

/// A segment's bytes from `offset` on, as they were written.
fn chunk(segment: &segment::Segment, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = segment.open()?;
    io::copy(&mut bytes.by_ref().take(offset), &mut io::sink())?;
    let mut data = Vec::new();
    bytes.take(MAX_CHUNK).read_to_end(&mut data)?;
    Ok(data)
}

async fn read_segment(
    realm: Arc<Realm>,
    (First(first), Query(Offset(offset))): (First, Query<Offset>),
) -> Result<Json<ChunkDocument>, Problem> {
    let (places, node) = log(&realm)?;
    let data = on_disk(move || {
        let segments = places.of(&node)?;
        let found = segments.iter().find(|segment| segment.first == first);
        let found = found.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(chunk(found, offset)?)
    });
    Ok(Json(ChunkDocument {
        offset,
        data: base64url::encode(&data.await?),
    }))
}
