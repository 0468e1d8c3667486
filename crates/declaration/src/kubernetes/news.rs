//! Waiting for an object of a cluster to change: the watches of its API.
//!
//! A watch says only that there is something new. What there is, is listed again, so that an event
//! that is lost or comes twice does no harm.
use super::api::Failed;
use super::cluster::{Cluster, Found};
use crate::watch::SETTLED;
use serde_json::Value;
use signet_admin::Declared;
use signet_admin_client::http_client::Followed;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// How long is waited after a failure, at first.
pub(crate) const RETRY: Duration = Duration::from_secs(1);
/// How long is waited after many.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// What was seen of one kind: the version of the list, and the generations of its objects.
struct Kind {
    declared: &'static Declared,
    version: String,
    generations: BTreeMap<String, u64>,
}

/// What was seen of a namespace.
pub(crate) struct Seen(Vec<Kind>);

impl Found {
    /// What a watch begins with.
    pub(crate) fn seen(&self) -> Seen {
        let kinds = self.versions.iter().map(|(declared, version)| {
            let of_kind = self.resources.iter();
            let of_kind = of_kind.filter(|one| one.declared.table == declared.table);
            Kind {
                declared,
                version: version.clone(),
                generations: of_kind
                    .map(|one| (one.name.clone(), one.generation))
                    .collect(),
            }
        });
        Seen(kinds.collect())
    }
}

/// What a line of a watch says.
#[derive(PartialEq, Debug)]
enum Said {
    /// Something has changed.
    News,
    /// Everything up to this version is known.
    UpTo(String),
    /// The versions in between are forgotten.
    Gone,
    /// The server gave up.
    Failed,
}

/// Reads a line of a watch.
fn read(line: &[u8], generations: &BTreeMap<String, u64>) -> Said {
    let Ok(event) = serde_json::from_slice::<Value>(line) else {
        return Said::Failed;
    };
    let object = &event["object"];
    let metadata = &object["metadata"];
    let version = metadata["resourceVersion"].as_str().unwrap_or_default();
    let up_to = || Said::UpTo(version.to_owned());
    match event["type"].as_str() {
        Some("BOOKMARK") => up_to(),
        Some("MODIFIED") => {
            let name = metadata["name"].as_str().unwrap_or_default();
            let is_going = !metadata["deletionTimestamp"].is_null();
            let known = generations.get(name).copied();
            // Its status was written, most likely by us.
            match known.is_some() && known == metadata["generation"].as_u64() && !is_going {
                true => up_to(),
                false => Said::News,
            }
        }
        Some("ADDED" | "DELETED") => Said::News,
        Some("ERROR") if object["code"] == 410 => Said::Gone,
        _ => Said::Failed,
    }
}

impl Cluster {
    /// Waits until something has changed since it was seen, and nothing more does for a moment;
    /// `at_most` for this long.
    pub(crate) async fn change(&self, seen: &Seen, at_most: Duration) {
        let watches = seen.0.iter().map(|kind| Box::pin(self.follow(kind)));
        let any = futures_util::future::select_all(watches);
        if timeout(at_most, any).await.is_ok() {
            sleep(SETTLED).await;
        }
    }

    /// Returns where an object of this kind has changed, or where nobody can say any more.
    async fn follow(&self, kind: &Kind) {
        let path = self.path(kind.declared);
        let mut version = kind.version.clone();
        let mut wait = RETRY;
        loop {
            match self.api.watch(&path, &version).await {
                Ok(Followed::Lines(mut lines, _driving)) => {
                    // Until the server ends it, which it does now and then.
                    while let Ok(Some(line)) = lines.next().await {
                        match read(&line, &kind.generations) {
                            Said::News => return,
                            Said::UpTo(newer) => {
                                version = newer;
                                wait = RETRY;
                            }
                            Said::Gone => return sleep(RETRY).await,
                            Said::Failed => break,
                        }
                    }
                }
                // What is listed then says what has changed since.
                Err(Failed::Gone) => return sleep(RETRY).await,
                Ok(Followed::Refused(_)) | Err(Failed::Missing(_) | Failed::Other(_)) => {}
            }
            sleep(wait).await;
            wait = (wait * 2).min(LONGEST_RETRY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn our_own_words_are_no_news() {
        let known = BTreeMap::from([("a".to_owned(), 2)]);
        let event = |kind: &str, name: &str, generation: u64| {
            let metadata =
                json!({ "name": name, "generation": generation, "resourceVersion": "9" });
            json!({ "type": kind, "object": { "metadata": metadata } })
        };
        let said = |event: Value| read(event.to_string().as_bytes(), &known);
        assert_eq!(said(event("MODIFIED", "a", 2)), Said::UpTo("9".to_owned()));
        assert_eq!(said(event("MODIFIED", "a", 3)), Said::News);
        assert_eq!(said(event("MODIFIED", "b", 2)), Said::News);
        assert_eq!(said(event("BOOKMARK", "", 0)), Said::UpTo("9".to_owned()));
        assert_eq!(said(event("DELETED", "a", 2)), Said::News);
        let mut going = event("MODIFIED", "a", 2);
        going["object"]["metadata"]["deletionTimestamp"] = "2026-11-26T00:00:00Z".into();
        assert_eq!(said(going), Said::News);
        let gone = json!({ "type": "ERROR", "object": { "code": 410 } });
        assert_eq!(said(gone), Said::Gone);
        let failed = json!({ "type": "ERROR", "object": { "code": 500 } });
        assert_eq!(said(failed), Said::Failed);
        assert_eq!(read(b"{", &known), Said::Failed);
    }
}
