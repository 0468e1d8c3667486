//! Custom resources as declarations.
use super::definitions::kind;
use crate::check;
use crate::directory::Object;
use crate::mistake::Mistake;
use crate::node::{Data, Member, Node, member};
use crate::secrets::{PLAIN, SecretPlace};
use serde_json::Value;
use signet_admin::Declared;
use signet_crypto::Secret;
use signet_encoding::base64url;
use std::collections::{BTreeMap, BTreeSet};

const FORM: &str = "{\"secret\": {\"name\": \"NAME\", \"key\": \"KEY\"}}";

/// An object of the cluster.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(super) declared: &'static Declared,
    /// Its name in the cluster.
    pub(super) name: String,
    /// `NAMESPACE/KIND/NAME`, for people: what a mistake has in the place of a file.
    pub(super) shown: String,
    /// Counts changes of `spec`.
    pub(super) generation: u64,
    /// Of its status.
    pub(super) conditions: Vec<Value>,
    spec: Value,
}

/// The data of Secrets by their names, or why there are no data.
pub(super) struct Secrets(pub(super) BTreeMap<String, Result<Value, String>>);

/// A reference to a secret: the Secret's name, and the key.
fn reference(value: &Value) -> Option<(&str, &str)> {
    let one = value.as_object().filter(|members| members.len() == 1)?;
    let secret = one.get("secret")?.as_object()?;
    let text = |name: &str| secret.get(name)?.as_str().filter(|text| !text.is_empty());
    let is_whole = secret.len() == 2;
    Some((text("name")?, text("key")?)).filter(|_| is_whole)
}

/// The names of the Secrets that objects name.
pub(super) fn secrets_named(resources: &[Resource]) -> BTreeSet<String> {
    let named = resources.iter().filter_map(|resource| {
        let (name, _) = reference(resource.spec.get(resource.declared.secret?)?)?;
        Some(name.to_owned())
    });
    named.collect()
}

impl Secrets {
    fn place(&self, node: &Node) -> Result<SecretPlace, (String, String)> {
        let value = node.to_json();
        if value.is_string() {
            return Err((PLAIN.to_owned(), format!("write where it is: {FORM}")));
        }
        let wrong = || ("a secret's place is expected".to_owned(), FORM.to_owned());
        let (name, key) = reference(&value).ok_or_else(wrong)?;
        let allowed = || "make it, or let the account get it".to_owned();
        let data = match self.0.get(name) {
            Some(Ok(data)) => data,
            Some(Err(why)) => return Err((why.clone(), allowed())),
            None => return Err((format!("the Secret {name} was not read"), allowed())),
        };
        let Some(text) = data.get(key).and_then(Value::as_str) else {
            let what = format!("the Secret {name} has no key {key}");
            return Err((what, "add it".to_owned()));
        };
        let text = decoded(text).ok_or_else(|| {
            let what = format!("the key {key} of the Secret {name} is no text");
            (what, "put the secret there as UTF-8".to_owned())
        })?;
        Ok(SecretPlace::Held(text))
    }
}

/// What Kubernetes keeps of a key: base64 with padding (RFC 4648 section 4).
fn decoded(text: &str) -> Option<Secret<String>> {
    let text = text
        .trim_end_matches('=')
        .replace('+', "-")
        .replace('/', "_");
    let bytes = base64url::decode(text.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Secret::new)
}

/// A value without lines.
fn node(value: Value) -> Node {
    let data = match value {
        Value::Object(members) => Data::Table(
            members
                .into_iter()
                .map(|(name, value)| Member {
                    name,
                    line: 0,
                    value: node(value),
                })
                .collect(),
        ),
        Value::Array(items) => Data::List(items.into_iter().map(node).collect()),
        leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Data::Leaf(leaf)
        }
    };
    Node { line: 0, data }
}

impl Resource {
    /// Reads one of a list; none where it is being deleted, and declares nothing any more.
    pub(super) fn read(declared: &'static Declared, mut item: Value) -> Option<Resource> {
        let metadata = &item["metadata"];
        if !metadata["deletionTimestamp"].is_null() {
            return None;
        }
        let text = |member: &str| metadata[member].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        let conditions = item["status"]["conditions"].as_array();
        Some(Resource {
            declared,
            shown: format!("{namespace}/{}/{name}", kind(declared)),
            name,
            generation: metadata["generation"].as_u64().unwrap_or_default(),
            conditions: conditions.cloned().unwrap_or_default(),
            spec: item.get_mut("spec").map(Value::take).unwrap_or_default(),
        })
    }

    /// What it declares, as far as it has a name, and what is wrong with it.
    pub(super) fn declare(&self, secrets: &Secrets) -> (Option<Object>, Vec<Mistake>) {
        let mut spec = node(self.spec.clone());
        if let Data::Table(members) = &mut spec.data
            && member(members, self.declared.id).is_none()
        {
            members.push(Member {
                name: self.declared.id.to_owned(),
                line: 0,
                value: node(self.name.as_str().into()),
            });
        }
        let place = |node: &Node| secrets.place(node);
        check::object(self.declared, &self.shown, place, spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use signet_admin::DECLARED;

    fn client(spec: Value) -> Resource {
        let declared = DECLARED.iter().find(|one| one.table == "clients").unwrap();
        let metadata = json!({ "namespace": "demo", "name": "shop", "generation": 3 });
        let item = json!({ "metadata": metadata, "spec": spec });
        Resource::read(declared, item).unwrap()
    }

    fn said(spec: Value, secrets: &Secrets) -> Vec<String> {
        let (_, mistakes) = client(spec).declare(secrets);
        mistakes.iter().map(Mistake::to_string).collect()
    }

    #[test]
    fn an_object_has_its_own_name_and_a_secret_is_only_referred_to() {
        let data = json!({ "good": "aHVudGVyMi8rPz4=", "binary": "/w==", "broken": "%" });
        let secrets = Secrets(BTreeMap::from([
            ("one".to_owned(), Ok(data)),
            (
                "gone".to_owned(),
                Err("there is no Secret demo/gone".to_owned()),
            ),
        ]));
        let of = |name: &str, key: &str| json!({ "client_secret": { "secret": { "name": name, "key": key } } });
        assert_eq!(secrets_named(&[client(of("one", "good"))]).len(), 1);
        let (object, mistakes) = client(of("one", "good")).declare(&secrets);
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let object = object.unwrap();
        assert_eq!(object.name, "shop");
        let secret = object.secret.unwrap().0.fetch(true).unwrap();
        assert_eq!(secret.expose(), "hunter2/+?>");
        for (spec, expected) in [
            (of("one", "none"), "the Secret one has no key none"),
            (
                of("one", "binary"),
                "the key binary of the Secret one is no text",
            ),
            (
                of("one", "broken"),
                "the key broken of the Secret one is no text",
            ),
            (of("gone", "x"), "there is no Secret demo/gone"),
            (json!({ "client_secret": "hunter2" }), PLAIN),
            // Whoever writes an object reads no file of the pod, and runs nothing there.
            (
                json!({ "client_secret": { "file": "/etc/passwd" } }),
                "a secret's place is expected",
            ),
            (
                json!({ "client_secret": { "command": ["id"] } }),
                "a secret's place is expected",
            ),
            (json!({ "redirect_uri": [] }), "unknown member"),
            (json!(7), "is a list of tables"),
        ] {
            let said = said(spec.clone(), &secrets);
            let [one] = said.as_slice() else {
                panic!("{spec}: {said:?}")
            };
            assert!(one.starts_with("demo/SignetClient/shop: "), "{one}");
            assert!(one.contains(expected) && !one.contains("hunter2"), "{one}");
        }
    }

    #[test]
    fn what_is_being_deleted_declares_nothing() {
        let metadata = json!({ "name": "a", "deletionTimestamp": "2026-11-26T00:00:00Z" });
        let item = json!({ "metadata": metadata, "spec": {} });
        assert!(Resource::read(&DECLARED[0], item).is_none());
    }
}
