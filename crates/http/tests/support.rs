//! A service that answers without reading, behind a real listener.
use http::{Request, StatusCode};
use signet_crypto::certificate::DevelopmentCa;
use signet_http::{
    Body, Connection, Connections, Limits, ListenerKind, Response, Serves,
    addresses::Addresses,
    listener::{Listener, Listening, Running, start},
    response,
    tls::{Tls, TlsOptions},
};
use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::Command,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// What every refusal says.
pub const REFUSAL: &str = "refused without a look at the body\n";

struct Refuses {
    limits: Limits,
    connections: Connections,
}

impl Serves for Refuses {
    async fn respond(&self, _connection: &Connection, request: Request<Body>) -> Response {
        match request.uri().path() {
            "/read" => match request.into_body().read(1024, Duration::from_secs(5)).await {
                Ok(body) => response::text(StatusCode::OK, body),
                Err(error) => response::text(error.status(), error.description()),
            },
            "/panic" => panic!("the handler of a test"),
            "/panics" => {
                let panicked = self.connections.panicked.load(Relaxed);
                response::text(StatusCode::OK, panicked.to_string())
            }
            _ => response::text(StatusCode::NOT_FOUND, REFUSAL),
        }
    }
    fn limits(&self) -> &Limits {
        &self.limits
    }
    fn connections(&self) -> &Connections {
        &self.connections
    }
    fn bound_of(&self, _peer: IpAddr) -> Option<&Arc<Addresses>> {
        None
    }
    fn now(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        since.as_secs()
    }
}

/// Listeners on free ports, one with TLS and one without; stopped when dropped.
pub struct Engine {
    pub address: SocketAddr,
    pub plain: SocketAddr,
    directory: tempfile::TempDir,
    running: Running,
}

impl Engine {
    pub fn start() -> Engine {
        let ca = DevelopmentCa::generate().unwrap();
        let (chain, key) = ca.issue_server(&["localhost".to_owned()]).unwrap();
        let options = TlsOptions::default();
        let tls = Tls::new(chain.as_bytes(), key.expose().as_bytes(), &options).unwrap();
        let listening = Listening::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let address = listening.address();
        let service = Arc::new(Refuses {
            limits: Limits::default(),
            connections: Connections::default(),
        });
        let plain = Listening::bind("127.0.0.1:0".parse().unwrap(), 1).unwrap();
        let plain_address = plain.address();
        let listeners = [(listening, Some(tls)), (plain, None)].map(|(listening, tls)| Listener {
            listening,
            tls,
            listener_kind: ListenerKind::Public,
        });
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("ca.pem"), ca.cert_pem()).unwrap();
        Engine {
            address,
            plain: plain_address,
            directory,
            running: start(service, listeners.into()).unwrap(),
        }
    }

    /// A file that a call may send.
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// curl against a path of this listener: its exit code, and "STATUS VERSION BODY".
    pub fn curl(&self, path: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let output = Command::new("curl")
            .args(["--silent", "--show-error", "--max-time", "20"])
            .args(["--write-out", "%{stderr}%{http_code} %{http_version} "])
            .arg("--cacert")
            .arg(self.directory.path().join("ca.pem"))
            .args(arguments)
            .arg(format!("https://localhost:{}{path}", self.address.port()))
            .output()
            .expect("curl is installed by scripts/setup-tests.sh");
        let text = [output.stderr, output.stdout].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.running.stop();
    }
}
