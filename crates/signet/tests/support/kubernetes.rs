//! What a Kubernetes API answers, as far as `signet apply --kubernetes` asks it: lists in pages,
//! watches, Secrets, and the status of an object. A pretended one; tests/kubernetes has a real one.
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard},
    thread,
    time::Duration,
};

const NAMESPACE: &str = "demo";

#[derive(Default)]
struct State {
    /// By the plural of the kind, and the name.
    objects: BTreeMap<(String, String), Value>,
    secrets: BTreeMap<String, Value>,
    version: u64,
    /// Versions up to this one are forgotten.
    forgotten: u64,
    /// Version, plural, and the line of a watch.
    events: Vec<(u64, String, Value)>,
    /// Watches that were begun before this one end.
    generation: u64,
    token: String,
    /// Method and path with its query.
    requests: Vec<String>,
}

/// An API that listens on a port of its own.
#[derive(Clone)]
pub struct Api {
    state: Arc<(Mutex<State>, Condvar)>,
    pub url: String,
}

impl Api {
    pub fn start(token: &str) -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = State {
            version: 10,
            token: token.to_owned(),
            ..State::default()
        };
        let state = Arc::new((Mutex::new(state), Condvar::new()));
        let api = Api { state, url };
        let own = api.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let api = own.clone();
                // A caller that goes away in the middle is none of ours.
                thread::spawn(move || drop(api.serve(stream)));
            }
        });
        api
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    fn event(&self, state: &mut State, kind: &str, plural: &str, mut object: Value) -> Value {
        state.version += 1;
        object["metadata"]["resourceVersion"] = state.version.to_string().into();
        let line = json!({ "type": kind, "object": object });
        state.events.push((state.version, plural.to_owned(), line));
        self.state.1.notify_all();
        object
    }

    /// Makes an object, or writes its `spec` again.
    pub fn put(&self, plural: &str, kind: &str, name: &str, spec: Value) {
        let mut state = self.state();
        let key = (plural.to_owned(), name.to_owned());
        let known = state.objects.get(&key);
        let generation = known.map_or(0, |one| one["metadata"]["generation"].as_u64().unwrap());
        let status = known.map(|one| one["status"].clone()).unwrap_or_default();
        let event = if generation == 0 { "ADDED" } else { "MODIFIED" };
        let object = json!({
            "apiVersion": "signet.internal/v1", "kind": kind, "spec": spec, "status": status,
            "metadata": { "namespace": NAMESPACE, "name": name, "generation": generation + 1 },
        });
        let object = self.event(&mut state, event, plural, object);
        state.objects.insert(key, object);
    }

    pub fn remove(&self, plural: &str, name: &str) {
        let mut state = self.state();
        let key = (plural.to_owned(), name.to_owned());
        let object = state.objects.remove(&key).unwrap();
        self.event(&mut state, "DELETED", plural, object);
    }

    pub fn secret(&self, name: &str, key: &str, base64: &str) {
        let secret = json!({ "kind": "Secret", "data": { key: base64 } });
        self.state().secrets.insert(name.to_owned(), secret);
    }

    /// Every watch ends, and what was before can be followed no more.
    pub fn forget(&self) {
        let mut state = self.state();
        state.version += 1;
        state.forgotten = state.version;
        state.generation += 1;
        self.state.1.notify_all();
    }

    /// Every watch ends.
    pub fn hang_up(&self) {
        self.state().generation += 1;
        self.state.1.notify_all();
    }

    pub fn accept(&self, token: &str) {
        token.clone_into(&mut self.state().token);
    }

    /// Reason and message of an object's condition.
    pub fn condition(&self, plural: &str, name: &str) -> Option<(String, String)> {
        let state = self.state();
        let object = state.objects.get(&(plural.to_owned(), name.to_owned()))?;
        let conditions = object["status"]["conditions"].as_array()?;
        let one = conditions.iter().find(|one| one["type"] == "Applied")?;
        assert_eq!(one["observedGeneration"], object["metadata"]["generation"]);
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        Some((text("reason"), text("message")))
    }

    pub fn requests(&self) -> Vec<String> {
        self.state().requests.clone()
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split(' ').map(str::to_owned);
        let (method, target) = (words.next(), words.next());
        let (method, target) = (method.unwrap_or_default(), target.unwrap_or_default());
        let (mut length, mut authorization) = (0, String::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim().split_once(": ") else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => value.clone_into(&mut authorization),
                "content-type" => assert_eq!(value, "application/merge-patch+json"),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let found = pairs.find(|(own, _)| *own == name);
            found.map(|(_, value)| value.to_owned())
        };
        let mut state = self.state();
        state.requests.push(format!("{method} {target}"));
        if authorization != format!("Bearer {}", state.token) {
            return answer(stream, 401, &json!({ "message": "Unauthorized" }));
        }
        let secrets = format!("/api/v1/namespaces/{NAMESPACE}/secrets/");
        if let Some(name) = path.strip_prefix(&secrets) {
            let none = json!({ "message": "secrets not found" });
            return match state.secrets.get(name) {
                Some(secret) => answer(stream, 200, secret),
                None => answer(stream, 404, &none),
            };
        }
        let objects = format!("/apis/signet.internal/v1/namespaces/{NAMESPACE}/");
        let rest = path.strip_prefix(&objects).unwrap_or_default();
        let parts: Vec<&str> = rest.split('/').collect();
        match (method.as_str(), parts.as_slice()) {
            ("GET", [plural]) if query.contains("watch=true") => {
                let version = parameter("resourceVersion").unwrap().parse().unwrap();
                drop(state);
                self.watch(stream, plural, version)
            }
            // One object a page.
            ("GET", [plural]) => {
                assert!(parameter("limit").is_some());
                let at: usize = parameter("continue").map_or(0, |token| token.parse().unwrap());
                let of_kind = state.objects.iter();
                let of_kind: Vec<&Value> = of_kind
                    .filter(|((own, _), _)| own == plural)
                    .map(|(_, object)| object)
                    .collect();
                let next = if at + 1 < of_kind.len() {
                    (at + 1).to_string()
                } else {
                    String::new()
                };
                let items: Vec<&Value> = of_kind.into_iter().skip(at).take(1).collect();
                let version = state.version.to_string();
                let metadata = json!({ "resourceVersion": version, "continue": next });
                let list = json!({ "items": items, "metadata": metadata });
                answer(stream, 200, &list)
            }
            ("PATCH", [plural, name, "status"]) => {
                let key = ((*plural).to_owned(), (*name).to_owned());
                let patch: Value = serde_json::from_slice(&body).unwrap();
                let Some(mut object) = state.objects.get(&key).cloned() else {
                    return answer(stream, 404, &json!({ "message": "not found" }));
                };
                assert_eq!(patch.as_object().unwrap().len(), 1);
                object["status"] = patch["status"].clone();
                let object = self.event(&mut state, "MODIFIED", plural, object);
                state.objects.insert(key, object.clone());
                answer(stream, 200, &object)
            }
            _ => answer(stream, 404, &json!({ "message": "no such path" })),
        }
    }

    fn watch(&self, mut stream: TcpStream, plural: &str, since: u64) -> std::io::Result<()> {
        let mut state = self.state();
        if since < state.forgotten {
            // Both happen: the status of the answer, and an event of one that was accepted.
            if since.is_multiple_of(2) {
                return answer(stream, 410, &json!({ "message": "too old", "code": 410 }));
            }
            let gone = json!({ "type": "ERROR", "object": { "code": 410 } });
            return answer(stream, 200, &gone);
        }
        let generation = state.generation;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes())?;
        let metadata = json!({ "resourceVersion": since.to_string() });
        let bookmark = json!({ "type": "BOOKMARK", "object": { "metadata": metadata } });
        stream.write_all(format!("{bookmark}\n").as_bytes())?;
        let mut sent = since;
        while state.generation == generation {
            let news: Vec<(u64, Value)> = state
                .events
                .iter()
                .filter(|(version, own, _)| *version > sent && own == plural)
                .map(|(version, _, line)| (*version, line.clone()))
                .collect();
            for (version, line) in news {
                stream.write_all(format!("{line}\n").as_bytes())?;
                sent = version;
            }
            let waited = self.state.1.wait_timeout(state, Duration::from_secs(1));
            state = waited.unwrap().0;
        }
        Ok(())
    }
}

fn answer(mut stream: TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let body = format!("{body}\n");
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
