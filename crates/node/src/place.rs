//! What a node remembers of its place in a cluster, in its data directory: a restart needs no
//! invitation.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use signet_store::NodeId;

use signet_crypto::private_file;

/// Below the data directory: everything of the cluster that is this node's own.
pub(crate) const DIRECTORY: &str = "cluster";
const FILE: &str = "node.json";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// This node's name.
    pub name: String,
    /// Its number in the replicated store, given out once; 0: it has none yet.
    pub number: u64,
    /// The public URL under which it alone answers; the issuer, where it has none of its own.
    pub url: String,
    /// Where its cluster listener was; a development server's is free at its first start, and the
    /// others know it by this address.
    pub listen: SocketAddr,
    /// Whether it came by an invitation: what its store holds are the others' rows, not its own.
    pub invited: bool,
}

impl Place {
    /// Its name as a node's.
    pub fn node(&self) -> Result<NodeId, String> {
        NodeId::parse(&self.name).map_err(|e| e.to_string())
    }

    /// Reads it; none where the data directory is not a node's.
    pub fn read(data_dir: &Path) -> Result<Option<Place>, String> {
        let path = path(data_dir);
        match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|e| format!("{}: {e}", path.display())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(format!("{}: {e}", path.display())),
        }
    }

    /// Writes it, whole.
    pub fn write(&self, data_dir: &Path) -> Result<(), String> {
        let path = path(data_dir);
        let directory = data_dir.join(DIRECTORY);
        private_file::directory(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| e.to_string())?;
        text.push(b'\n');
        private_file::write(&path, &text).map_err(|e| format!("{}: {e}", path.display()))
    }
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(DIRECTORY).join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Place::read(directory.path()), Ok(None));
        let place = Place {
            name: "node-2".into(),
            number: 2,
            url: "https://localhost:8444".into(),
            listen: "127.0.0.1:7443".parse().unwrap(),
            invited: true,
        };
        place.write(directory.path()).unwrap();
        assert_eq!(Place::read(directory.path()), Ok(Some(place)));
        std::fs::write(path(directory.path()), "{}").unwrap();
        assert!(Place::read(directory.path()).is_err());
    }
}
