//! Nodes of configuration files: behind a reverse proxy, so that each has an issuer in common and a
//! port of its own.

use super::{Server, basic, http_client::HttpClient, port_in, text};
use serde_json::{Value, json};
use std::{fs, path::PathBuf, time::Instant};

const SECRET: &str = "a-secret-of-a-service-that-is-long-enough-for-anybody";
/// A start on a busy machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A node, which is killed when it is dropped.
pub struct Node {
    home: tempfile::TempDir,
    /// The lines of its `[cluster]`.
    cluster: String,
    pub server: Server,
    port: u16,
    client: HttpClient,
}

fn configure(home: &std::path::Path, port: u16, cluster: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let file = home.join("signet.toml");
    let data = home.join("data");
    let service = |id: &str, further: &str| {
        format!(
            "[[clients]]\nclient_id = \"{id}\"\nclient_secrets = [{{ file = \"secret\" }}]\n\
             grant_types = [\"client_credentials\"]\n\
             token_endpoint_auth_method = \"client_secret_basic\"\n{further}"
        )
    };
    let text = format!(
        "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\"]\n\
         [[listeners]]\naddress = \"127.0.0.1:{port}\"\nprotocol = \"http\"\n\
         [cluster]\nlisten = \"127.0.0.1:0\"\n{cluster}{}{}",
        data.display(),
        service("service", ""),
        service("operator", "scope = \"signet:admin\"\n"),
    );
    fs::write(&file, text).unwrap();
    fs::write(home.join("secret"), SECRET).unwrap();
    fs::set_permissions(home.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    file
}

impl Node {
    /// The first one, or one that this token lets in. `cluster`: lines of its `[cluster]`.
    pub fn start(cluster: &str, join: Option<&str>) -> Node {
        let home = tempfile::tempdir().unwrap();
        let (file, log) = (configure(home.path(), 0, cluster), home.path().join("log"));
        let mut arguments = vec!["--config", file.to_str().unwrap()];
        if let Some(token) = join {
            arguments.extend(["--join", token]);
        }
        let mut server = Server::start(&arguments, &log);
        server.wait_for(|| port_in(&log, "ready").is_some());
        let port = port_in(&log, "ready").unwrap();
        configure(home.path(), port, cluster);
        Node {
            home,
            cluster: cluster.to_owned(),
            server,
            port,
            client: HttpClient::new(&[]).unwrap(),
        }
    }

    /// Kills it.
    pub fn kill(&mut self) {
        self.server.signal("KILL");
        self.server.end();
    }

    /// Starts it again, with other lines perhaps, and waits until it answers.
    pub async fn start_again(&mut self, cluster: Option<&str>) {
        let cluster = cluster.unwrap_or(&self.cluster);
        let file = configure(self.home.path(), self.port, cluster);
        let log = self.home.path().join("log");
        self.server = Server::start(&["--config", file.to_str().unwrap()], &log);
        let started = Instant::now();
        let url = format!("http://127.0.0.1:{}/health/ready", self.port);
        while !(self.client.get(&url, &[]).await)
            .is_ok_and(|answer| !text(&answer.body).contains("sync: starting"))
        {
            assert!(
                started.elapsed() < PATIENCE,
                "not back:\n{}",
                self.server.log()
            );
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    async fn send(
        &self,
        method: http::Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> (u16, Value) {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        let sent = self.client.send(method, &url, headers, body.into());
        let answer = sent.await.unwrap();
        let body = serde_json::from_slice(&answer.body);
        let body = body.unwrap_or_else(|_| Value::String(text(&answer.body)));
        (answer.status.as_u16(), body)
    }

    /// What is there.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send(http::Method::GET, path, &[], String::new()).await
    }

    /// A form, as a client.
    pub async fn post(&self, client: &str, path: &str, form: &str) -> (u16, Value) {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", &*basic(client, SECRET)),
        ];
        self.send(http::Method::POST, path, &headers, form.to_owned())
            .await
    }

    /// An access token of the service.
    pub async fn token(&self) -> String {
        let form = "grant_type=client_credentials";
        let (status, body) = self.post("service", "/token", form).await;
        assert_eq!(status, 200, "{body}\n{}", self.server.log());
        body["access_token"].as_str().unwrap().to_owned()
    }

    pub async fn is_active(&self, token: &str) -> bool {
        let form = format!("token={token}");
        let (status, body) = self.post("service", "/introspect", &form).await;
        assert_eq!(status, 200, "{body}");
        body["active"].as_bool().unwrap()
    }

    /// An operation of the admin API.
    pub async fn admin(&self, method: http::Method, path: &str, body: Value) -> (u16, Value) {
        let form = "grant_type=client_credentials&scope=signet:admin";
        let (status, token) = self.post("operator", "/token", form).await;
        assert_eq!(status, 200, "{token}");
        let token = format!("Bearer {}", token["access_token"].as_str().unwrap());
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &*token),
        ];
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let path = format!("/admin/v1{path}");
        self.send(method, &path, &headers, body).await
    }

    /// A token that lets one node in.
    pub async fn invite(&self) -> String {
        let (status, body) = self
            .admin(http::Method::POST, "/nodes/invitations", json!({}))
            .await;
        assert_eq!(status, 201, "{body}");
        body["token"].as_str().unwrap().to_owned()
    }

    /// Waits until so many nodes are seen from here, and all are ready.
    pub async fn sees_ready(&self, count: usize) {
        let started = Instant::now();
        loop {
            let (_, body) = self.admin(http::Method::GET, "/nodes", Value::Null).await;
            let nodes = body["items"].as_array().cloned().unwrap_or_default();
            let ready = nodes.iter().filter(|node| node["state"] == "ready").count();
            if nodes.len() >= count && ready == count {
                return;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "{body}\n{}",
                self.server.log()
            );
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// Waits until `/health/ready` says this.
    pub async fn until_ready_says(&self, words: &str) {
        let started = Instant::now();
        loop {
            let (_, body) = self.get("/health/ready").await;
            if body.as_str().is_some_and(|said| said.contains(words)) {
                return;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "{words}: {body}\n{}",
                self.server.log()
            );
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}
