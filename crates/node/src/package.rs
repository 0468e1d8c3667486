//! What a node that lets another one in hands over, beside the members: sealed to the newcomer's
//! key on its way (`signet_cluster::join`).

use std::path::Path;

use serde::{Deserialize, Serialize};
use signet_merge::hlc::MAX_AHEAD_MS;
use signet_registry::keys::SEALING_FILE;

use super::{ClusterOptions, Development, Place};
use signet_crypto::private_file;

/// The form that this version writes and reads.
const VERSION: u32 = 1;

/// See the module. It holds every secret of the installation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Package {
    version: u32,
    /// Whose node it becomes: a newcomer with another issuer in its configuration is refused.
    pub issuer: String,
    /// The newcomer's number in the replicated store.
    pub number: u64,
    /// Where the others keep their state.
    pub store: SharedStore,
    /// The file of the sealing keys.
    sealing_keys: String,
    /// Of a development server: see [`Development`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dev: Option<serde_json::Value>,
}

/// Where the nodes of an installation keep their state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SharedStore {
    /// Each node has a copy, which consensus keeps equal.
    Replicated,
    /// A database of their own choice, which every node's configuration names.
    Database,
}

/// How a node is configured, as far as all nodes of an installation must be alike. Members that
/// this version does not know are a later one's.
#[derive(Serialize, Deserialize)]
pub(crate) struct Profile {
    issuer: String,
    dev: bool,
    embedded: bool,
    /// What its clock shows, Unix milliseconds; none of the version before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    now_ms: Option<u64>,
}

impl Profile {
    /// Of this process.
    pub(crate) fn of(options: &ClusterOptions) -> Profile {
        Profile {
            issuer: options.issuer.clone(),
            dev: options.development.is_some(),
            embedded: options.embedded,
            now_ms: None,
        }
    }

    /// With what its clock shows now, Unix milliseconds.
    #[must_use]
    pub(crate) fn at(self, now_ms: u64) -> Profile {
        let now_ms = Some(now_ms);
        Profile { now_ms, ..self }
    }

    /// Whether its clock is near enough to the cluster's, which shows `now_ms`, for it to be a
    /// node. For the newcomer's operator.
    pub(crate) fn is_in_time(&self, now_ms: u64) -> Result<(), String> {
        let differs_ms = self.now_ms.map_or(0, |own| own.abs_diff(now_ms));
        if differs_ms <= MAX_AHEAD_MS {
            return Ok(());
        }
        let side = match self.now_ms > Some(now_ms) {
            true => "ahead of",
            false => "behind",
        };
        Err(format!(
            "this node's clock is {} s {side} the cluster's: set it, and join again",
            differs_ms / 1000
        ))
    }

    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Invariant: a text and two booleans serialize.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads it.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Profile, String> {
        serde_json::from_slice(bytes)
            .map_err(|_| "the cluster runs a version that does not read what this node says of its configuration".to_owned())
    }

    /// Whether this one can be a node of a cluster whose nodes are so. For the newcomer's operator.
    pub(crate) fn fits(&self, cluster: &Profile) -> Result<(), String> {
        if self.dev != cluster.dev {
            return Err(match self.dev {
                true => "the cluster is no development server's: --config instead of --dev",
                false => "the cluster is a development server's: --dev instead of --config",
            }
            .to_owned());
        }
        // A development server takes the cluster's.
        if !self.dev && self.issuer != cluster.issuer {
            return Err(format!(
                "the cluster's issuer is {}, and this configuration's {}",
                cluster.issuer, self.issuer
            ));
        }
        match (cluster.embedded, self.embedded) {
            (true, true) | (false, false) => Ok(()),
            (true, false) => Err(
                "the cluster replicates its embedded store: this node's store must be sqlite"
                    .to_owned(),
            ),
            (false, true) => Err(
                "the cluster keeps its state in a database: name the same one by --store or [store]"
                    .to_owned(),
            ),
        }
    }
}

impl Package {
    /// Packs what lies in the data directory of this node.
    pub(crate) fn of(
        data_dir: &Path,
        issuer: &str,
        number: u64,
        store: SharedStore,
        development: Option<Development>,
    ) -> Result<Package, String> {
        let read = |name: &str| {
            let path = data_dir.join(name);
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        let dev = development.map(|development| (development.pack)(data_dir));
        Ok(Package {
            version: VERSION,
            issuer: issuer.to_owned(),
            number,
            store,
            sealing_keys: read(SEALING_FILE)?,
            dev: dev.transpose()?,
        })
    }

    /// Its bytes.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, String> {
        serde_json::to_vec(self).map_err(|e| e.to_string())
    }

    /// Reads it.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Package, String> {
        let package: Package = serde_json::from_slice(bytes)
            .map_err(|_| "the other node runs a version whose invitation this one does not read")?;
        match package.version {
            VERSION => Ok(package),
            other => Err(format!(
                "the other node runs a version whose invitations are of another form ({other})"
            )),
        }
    }

    /// How the node is configured that it comes from.
    pub(crate) fn profile(&self) -> Profile {
        Profile {
            issuer: self.issuer.clone(),
            dev: self.dev.is_some(),
            embedded: self.store == SharedStore::Replicated,
            now_ms: None,
        }
    }

    /// Puts everything where a start finds it.
    pub(crate) fn unpack(
        &self,
        data_dir: &Path,
        development: Option<Development>,
        place: &Place,
    ) -> Result<(), String> {
        let path = data_dir.join(SEALING_FILE);
        private_file::write(&path, self.sealing_keys.as_bytes())
            .map_err(|e| format!("{}: {e}", path.display()))?;
        match (&self.dev, development) {
            (Some(dev), Some(development)) => (development.unpack)(data_dir, dev, place),
            // The profiles were compared.
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newcomer_that_is_configured_otherwise_is_told_what_to_put_right() {
        let profile = |issuer: &str, dev, embedded| Profile {
            issuer: issuer.into(),
            dev,
            embedded,
            now_ms: None,
        };
        let cluster = profile("https://a.example", false, true);
        assert_eq!(
            profile("https://a.example", false, true).fits(&cluster),
            Ok(())
        );
        for (newcomer, word) in [
            (profile("https://b.example", false, true), "issuer"),
            (profile("https://a.example", true, true), "--config"),
            (profile("https://a.example", false, false), "sqlite"),
        ] {
            let why = newcomer.fits(&cluster).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
        // The issuer of a development server is the first one's port.
        let cluster = profile("https://localhost:1", true, false);
        assert_eq!(
            profile("https://localhost:2", true, false).fits(&cluster),
            Ok(())
        );
        let why = profile("https://localhost:2", true, true).fits(&cluster);
        assert!(why.unwrap_err().contains("database"));
        // A version before this one does not say what its clock shows.
        let now_ms = 1_800_000_000_000;
        assert_eq!(cluster.is_in_time(now_ms), Ok(()));
        // A member of a later version's profile is no reason to refuse it.
        let later = br#"{"issuer":"https://localhost:2","dev":true,"embedded":false,"x":1}"#;
        assert_eq!(Profile::from_bytes(later).unwrap().fits(&cluster), Ok(()));
        assert!(Profile::from_bytes(b"").is_err());
    }

    #[test]
    fn a_newcomer_whose_clock_is_more_than_ten_minutes_off_is_refused() {
        let now_ms = 1_800_000_000_000;
        let newcomer = |clock_ms| {
            let profile = Profile {
                issuer: "https://a.example".into(),
                dev: false,
                embedded: true,
                now_ms: None,
            };
            Profile::from_bytes(&profile.at(clock_ms).to_bytes()).unwrap()
        };
        for near in [now_ms, now_ms - 600_000, now_ms + 600_000] {
            assert_eq!(newcomer(near).is_in_time(now_ms), Ok(()));
        }
        let why = newcomer(now_ms - 7_200_000).is_in_time(now_ms);
        assert!(why.unwrap_err().contains("7200 s behind"));
        let why = newcomer(now_ms + 600_001).is_in_time(now_ms);
        assert!(why.unwrap_err().contains("600 s ahead of"));
    }
}
