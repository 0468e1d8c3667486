//! How it went, said to each object: the condition `Applied` of its status.
use super::api::Failed;
use super::cluster::Cluster;
use super::resources::Resource;
use crate::applying::Refused;
use serde_json::{Value, json};
use signet_admin_client::http_client::percent_encode;
use signet_terminal::output::{date, note};

const TYPE: &str = "Applied";
/// Longest message of a condition, in bytes
const MAX_MESSAGE_BYTES: usize = 4096;

/// Status, reason and message.
type Condition = (&'static str, &'static str, String);

fn condition(resource: &Resource, refused: Option<&Refused>) -> Option<Condition> {
    match refused {
        None => Some(("True", "Applied", String::new())),
        Some(Refused::Mistakes(mistakes)) => {
            let own = mistakes.iter().filter(|one| one.file == resource.shown);
            let own: Vec<String> = own.map(ToString::to_string).collect();
            Some(match own.is_empty() {
                false => ("False", "Invalid", own.join("\n")),
                true => {
                    let others = "Nothing of the namespace is applied: other objects are wrong.";
                    ("False", "OthersInvalid", others.to_owned())
                }
            })
        }
        Some(Refused::Call(failure)) => {
            Some(("Unknown", "Refused", failure.description().to_owned()))
        }
        // Nobody tried.
        Some(Refused::Declined(_)) => None,
    }
}

/// The conditions that an object gets; none where it has them.
fn changed(resource: &Resource, condition: Condition, now: u64) -> Option<Vec<Value>> {
    let (status, reason, mut message) = condition;
    if message.len() > MAX_MESSAGE_BYTES {
        let end = (0..=MAX_MESSAGE_BYTES)
            .rev()
            .find(|at| message.is_char_boundary(*at));
        message.truncate(end.unwrap_or_default());
    }
    let is_own = |condition: &&Value| condition["type"] == TYPE;
    let known = resource.conditions.iter().find(is_own);
    let mut wanted = json!({
        "type": TYPE, "status": status, "reason": reason, "message": message,
        "observedGeneration": resource.generation,
    });
    // When the status was another one last: a reason may change without that.
    let since = known.filter(|known| known["status"] == status);
    let since = since.and_then(|known| known["lastTransitionTime"].as_str());
    wanted["lastTransitionTime"] = since.map_or_else(|| date(now), str::to_owned).into();
    if known == Some(&wanted) {
        return None;
    }
    // Conditions of others stay.
    let others = resource.conditions.iter().filter(|one| !is_own(one));
    Some(others.cloned().chain([wanted]).collect())
}

impl Cluster {
    /// Says to each object how it went. `now`: Unix seconds. What cannot be said is printed; it
    /// stops nothing.
    pub(crate) async fn report(&self, resources: &[Resource], refused: Option<&Refused>, now: u64) {
        for resource in resources {
            let Some(condition) = condition(resource, refused) else {
                continue;
            };
            let Some(conditions) = changed(resource, condition, now) else {
                continue;
            };
            let patch = json!({ "status": { "conditions": conditions } });
            let name = percent_encode(&resource.name);
            let path = format!("{}/{name}/status", self.path(resource.declared));
            let why = match self.api.merge(&path, &patch).await {
                // It was deleted meanwhile.
                Ok(()) | Err(Failed::Missing(_) | Failed::Gone) => continue,
                Err(Failed::Other(why)) => why,
            };
            note(&format!("signet: the status of {}: {why}", resource.shown));
            // What is refused for one is refused for all.
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mistake::Mistake;
    use signet_admin::DECLARED;
    use signet_terminal::output::Failure;

    fn resource(conditions: &[Value]) -> Resource {
        let metadata = json!({ "namespace": "demo", "name": "a", "generation": 2 });
        let status = json!({ "conditions": conditions });
        let item = json!({ "metadata": metadata, "spec": {}, "status": status });
        Resource::read(&DECLARED[0], item).unwrap()
    }

    #[test]
    fn a_condition_is_written_once_and_those_of_others_stay() {
        let other = json!({ "type": "Ready", "status": "True" });
        let one = resource(std::slice::from_ref(&other));
        let applied = || condition(&one, None).unwrap();
        let first = changed(&one, applied(), 0).unwrap();
        assert_eq!(first[0], other);
        assert_eq!(first[1]["observedGeneration"], 2);
        assert_eq!(first[1]["lastTransitionTime"], "1970-01-01T00:00:00Z");
        let again = resource(&first);
        assert_eq!(changed(&again, applied(), 9), None);
        let failure = Refused::Call(Failure::unusable("nothing answers"));
        let then = changed(&again, condition(&again, Some(&failure)).unwrap(), 9).unwrap();
        assert_eq!(then.len(), 2);
        assert_eq!(then[1]["lastTransitionTime"], "1970-01-01T00:00:09Z");
        assert_eq!(then[1]["message"], "nothing answers");
    }

    #[test]
    fn a_mistake_is_told_to_its_object_and_others_that_they_wait() {
        let one = resource(&[]);
        let of = |file: &str| Refused::Mistakes(vec![Mistake::new(file, 0, "é".repeat(9000))]);
        let (status, reason, message) = condition(&one, Some(&of(&one.shown))).unwrap();
        assert_eq!((status, reason), ("False", "Invalid"));
        let begins = format!("{}: é", one.shown);
        assert!(message.starts_with(&begins), "{message}");
        let written = changed(&one, (status, reason, message), 0).unwrap();
        assert!(written[0]["message"].as_str().unwrap().len() <= MAX_MESSAGE_BYTES);
        let (_, reason, _) = condition(&one, Some(&of("demo/SignetGroup/b"))).unwrap();
        assert_eq!(reason, "OthersInvalid");
        let declined = Refused::Declined(Failure::unusable("no"));
        assert!(condition(&one, Some(&declined)).is_none());
    }
}
