//! What a development server hands to a node that joins it, beside what every installation does.

use std::path::Path;

use serde::{Deserialize, Serialize};
use signet_crypto::private_file;
use signet_node::{Development, Place};

use super::{CA_CERT, CA_KEY, DevFile, DevNode, join, read_file};

/// For the node's options.
pub const FOR_NODES: Development = Development { pack, unpack };

/// Its accounts and clients, and the authority of its certificates: a browser that trusts the first
/// node trusts them all.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DevPackage {
    file: DevFile,
    ca_cert: String,
    ca_key: String,
}

fn pack(data_dir: &Path) -> Result<serde_json::Value, String> {
    let read = |name: &str| {
        let path = data_dir.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let package = DevPackage {
        file: read_file(data_dir)?,
        ca_cert: read(CA_CERT)?,
        ca_key: read(CA_KEY)?,
    };
    serde_json::to_value(package).map_err(|e| e.to_string())
}

fn unpack(data_dir: &Path, package: &serde_json::Value, place: &Place) -> Result<(), String> {
    let package = DevPackage::deserialize(package)
        .map_err(|_| "the other node runs a version whose invitation this one does not read")?;
    let write = |name: &str, text: &str| {
        let path = data_dir.join(name);
        private_file::write(&path, text.as_bytes()).map_err(|e| format!("{}: {e}", path.display()))
    };
    write(CA_KEY, &package.ca_key)?;
    write(CA_CERT, &package.ca_cert)?;
    let node = DevNode {
        name: place.name.clone(),
        url: place.url.clone(),
    };
    join(data_dir, &package.file, &node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dev::FILE;

    #[test]
    fn a_package_of_another_version_is_refused_before_anything_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let place = Place {
            name: "node-2".into(),
            number: 2,
            url: "https://localhost:8444".into(),
            listen: ([127, 0, 0, 1], 9444).into(),
            invited: true,
        };
        let package = serde_json::json!({"ca_cert": "x", "ca_key": "y"});
        let why = unpack(directory.path(), &package, &place).unwrap_err();
        assert!(why.contains("version"), "{why}");
        assert!(!directory.path().join(CA_KEY).exists());
        assert!(!directory.path().join(FILE).exists());
    }
}
