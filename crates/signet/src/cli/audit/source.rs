//! Where a trail's bytes come from: files of this machine, or a server's admin API.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use signet_audit::NodeId;
use signet_audit::read::{self, Local};
use signet_audit::segment::{self, Segment};
use signet_encoding::base64url;

use crate::dev;
use signet_admin_client::{Session, Target};
use signet_terminal::Failure;

/// A trail.
pub enum Source<'a> {
    /// On this machine.
    Files(Place),
    /// A server's.
    Server(&'a Session),
}

/// What else a trail on this machine needs to be found.
#[derive(Debug, Clone, Args)]
pub struct Where {
    /// The directory that closed segments were handed to ([audit] archive_directory), for a trail
    /// on this machine.
    #[arg(long, value_name = "DIR")]
    archive: Option<PathBuf>,
    /// The node whose trail it is, where a directory holds several.
    #[arg(long, value_name = "NAME", value_parser = NodeId::parse)]
    node: Option<NodeId>,
}

/// A directory with a trail, or an exported file.
pub struct Place {
    path: PathBuf,
    wanted: Where,
}

impl Place {
    /// What is there now: while a server runs, segments come, are compressed and leave.
    pub fn find(&self) -> std::io::Result<Local> {
        let archive = self.wanted.archive.as_deref();
        read::local(&self.path, archive, self.wanted.node.as_ref())
    }

    /// The segments that are there now; none of an exported file.
    pub fn segments(&self) -> std::io::Result<Vec<Segment>> {
        match self.find()? {
            Local::Segments(segments) => Ok(segments),
            Local::Exported(_) => Ok(Vec::new()),
        }
    }
}

/// The trail that the arguments name, if it is on this machine and no server is named.
pub fn local(target: &Target, named: Option<&Path>, wanted: &Where) -> Option<Place> {
    let wanted = wanted.clone();
    let path = directory(target, named)?;
    Some(Place { path, wanted })
}

fn directory(target: &Target, named: Option<&Path>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    if target.is_a_server() {
        return None;
    }
    let directory = target.data_dir.clone();
    let directory = directory.unwrap_or_else(|| dev::DEFAULT_DIR.into());
    let mut audit = directory.join("audit");
    if let Some(realm) = &target.realm {
        audit = audit.join("realms").join(realm);
    }
    audit.is_dir().then_some(audit)
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |e| Failure::unusable(format!("cannot read {}: {e}", path.display()))
}

impl Source<'_> {
    /// Does `work` with each segment's bytes in order; what it is called in messages comes with
    /// them.
    pub async fn each_segment(
        &self,
        mut work: impl FnMut(&mut dyn Read, &str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Source::Files(place) => match place.find().map_err(unreadable(&place.path))? {
                Local::Exported(file) => {
                    let mut bytes = segment::open(&file).map_err(unreadable(&file))?;
                    work(&mut bytes, &file.display().to_string())?;
                }
                Local::Segments(segments) => {
                    for segment in segments {
                        let mut bytes = segment.open().map_err(unreadable(&segment.path))?;
                        work(&mut bytes, &segment.path.display().to_string())?;
                    }
                }
            },
            Source::Server(session) => {
                let trail = session.get("/audit").await?;
                let segments = trail["segments"].as_array().cloned().unwrap_or_default();
                for segment in &segments {
                    let first = segment["first"].as_u64().unwrap_or_default();
                    let bytes = fetch(session, first).await?;
                    work(&mut Cursor::new(bytes), &format!("segment {first}"))?;
                }
            }
        }
        Ok(())
    }

    /// Whether what is read now may be longer a moment later.
    pub fn grows(&self) -> bool {
        match self {
            Source::Files(place) => place.path.is_dir(),
            Source::Server(_) => true,
        }
    }
}

async fn fetch(session: &Session, first: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    loop {
        let path = format!("/audit/segments/{first}?offset={}", bytes.len());
        let chunk: Value = session.get(&path).await?;
        let data = chunk["data"].as_str().unwrap_or_default();
        let data = base64url::decode(data.as_bytes())
            .map_err(|_| Failure::unusable("the server's answer cannot be read"))?;
        if data.is_empty() {
            return Ok(bytes);
        }
        bytes.extend_from_slice(&data);
    }
}
