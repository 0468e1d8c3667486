//! Where a trail's bytes come from: files of this machine, or a server's admin API.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;
use signet_audit::read;
use signet_jose::base64url;

use crate::admin_client::{Session, Target};
use crate::cli::Failure;
use crate::dev;

/// A trail.
pub enum Source<'a> {
    /// Its segments, or one exported file.
    Files(PathBuf),
    /// A server's.
    Server(&'a Session),
}

/// The directory or file that the arguments name, if it is on this machine and no server is named.
pub fn local(target: &Target, named: Option<&Path>) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    if target.server().is_some() {
        return None;
    }
    let directory = target.data_dir.clone();
    let directory = directory.unwrap_or_else(|| dev::DEFAULT_DIR.into());
    let audit = directory.join("audit");
    audit.is_dir().then_some(audit)
}

fn unreadable(path: &Path) -> impl Fn(std::io::Error) -> Failure {
    move |e| Failure::unusable(format!("cannot read {}: {e}", path.display()))
}

impl Source<'_> {
    /// Does `work` with each segment's bytes in order; what it is called in messages comes with them.
    pub async fn each_segment(
        &self,
        mut work: impl FnMut(&mut dyn Read, &str) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self {
            Source::Files(path) => {
                for file in read::files(path).map_err(unreadable(path))? {
                    let mut open = File::open(&file).map_err(unreadable(&file))?;
                    work(&mut open, &file.display().to_string())?;
                }
            }
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
            Source::Files(path) => path.is_dir(),
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
