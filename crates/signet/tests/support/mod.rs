//! Real processes for the tests: a server on free ports in a directory of its own, the command
//! line, and a small browser.
#![allow(dead_code)] // Each test file uses a part.

pub mod gate;
pub mod kubernetes;
pub mod node;
pub mod page;

pub use signet_admin_client::http_client;
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use http_client::{Answer, HttpClient, form, percent_encode};
use serde_json::Value;

/// The binary under test.
pub const SIGNET: &str = env!("CARGO_BIN_EXE_signet");
/// A start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The port of 127.0.0.1 in the log's line of this message.
pub fn port_in(log: &Path, message: &str) -> Option<u16> {
    let log = text(&std::fs::read(log).ok()?);
    let mut lines = log.lines().filter(|line| line.contains(message));
    let (_, behind) = lines.find_map(|line| line.split_once("127.0.0.1:"))?;
    let digits = behind.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Runs a command of the binary to its end.
pub fn signet(arguments: &[&str]) -> Output {
    signet_with(arguments, "")
}

/// The same, with something on standard input.
pub fn signet_with(arguments: &[&str], input: &str) -> Output {
    use std::io::Write;
    let mut child = Command::new(SIGNET)
        .args(arguments)
        .env_remove("SIGNET_ADMIN_TOKEN")
        .env_remove("SIGNET_PASSWORD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that ends without reading closes its end first.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Standard output as JSON.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!(
            "no JSON ({e}): {}{}",
            text(&output.stdout),
            text(&output.stderr)
        )
    })
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running server; killed when dropped.
pub struct Server {
    child: Child,
    arguments: Vec<String>,
    log: PathBuf,
}

impl Server {
    /// Starts `signet serve` with these arguments; its log goes to a file.
    pub fn start(arguments: &[&str], log: &Path) -> Server {
        let arguments: Vec<String> = arguments.iter().map(|a| (*a).to_owned()).collect();
        let child = spawn(&arguments, log);
        Server {
            child,
            arguments,
            log: log.into(),
        }
    }

    /// A development server on a port of the system's choice, when it answers. A restart takes the
    /// same one, which its issuer names.
    pub fn dev(directory: &Path) -> (Server, Dev) {
        let listen = "127.0.0.1:0";
        let data = directory.join("data");
        let log = directory.join("log");
        let mut server = Server::start(
            &[
                "--dev",
                "--listen",
                listen,
                "--data-dir",
                data.to_str().unwrap(),
            ],
            &log,
        );
        server.wait_for(|| data.join("dev.json").exists());
        let dev = Dev::read(&data);
        let bound = dev.issuer.replace("https://localhost", "127.0.0.1");
        let argument = server.arguments.iter_mut().find(|a| *a == listen);
        *argument.unwrap() = bound;
        (server, dev)
    }

    /// A development server that becomes a node of the cluster that made this token.
    pub fn joined(directory: &Path, token: &str) -> (Server, Dev) {
        let data = directory.join("data");
        let arguments = [
            "--dev",
            "--listen",
            "127.0.0.1:0",
            "--data-dir",
            data.to_str().unwrap(),
            "--join",
            token,
        ];
        let mut server = Server::start(&arguments, &directory.join("log"));
        server.wait_for(|| data.join("dev.json").exists());
        let dev = Dev::read(&data);
        let bound = dev.url.replace("https://localhost", "127.0.0.1");
        // A restart takes the same port, and needs no invitation.
        let listen = server.arguments.iter_mut().find(|a| *a == "127.0.0.1:0");
        *listen.unwrap() = bound;
        server.arguments.truncate(server.arguments.len() - 2);
        (server, dev)
    }

    /// A server of a configuration file whose listener is `127.0.0.1:0`, when it answers; and its
    /// port.
    pub fn configured(file: &Path, log: &Path) -> (Server, u16) {
        let mut server = Server::start(&["--config", file.to_str().unwrap()], log);
        server.wait_for(|| port_in(log, "ready").is_some());
        let port = port_in(log, "ready").unwrap();
        (server, port)
    }

    /// Waits until `ready`; a server that ends meanwhile fails the test with its log.
    pub fn wait_for(&mut self, ready: impl Fn() -> bool) {
        let started = Instant::now();
        while !ready() {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server ended with {status}:\n{}", self.log());
            }
            assert!(started.elapsed() < PATIENCE, "not ready:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for the end; the exit code.
    pub fn end(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(
                started.elapsed() < PATIENCE,
                "it does not end:\n{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// `kill -9`, and the same start again; returns when `dev` answers.
    pub async fn crash_and_restart(&mut self, dev: &Dev) {
        self.signal("KILL");
        self.end();
        self.restart(dev).await;
    }

    /// The same start again, of one that was killed.
    pub fn start_again(&mut self) {
        self.child = spawn(&self.arguments, &self.log);
    }

    /// Waits until the log has this, whether or not the server goes on.
    pub fn wait_for_log(&self, words: &str) {
        let started = Instant::now();
        while !self.log().contains(words) {
            assert!(started.elapsed() < PATIENCE, "{words}:\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The same start again, of one that was killed; returns when `dev` answers.
    pub async fn restart(&mut self, dev: &Dev) {
        self.start_again();
        self.answers(dev).await;
    }

    /// Waits until it answers.
    pub async fn answers(&mut self, dev: &Dev) {
        let started = Instant::now();
        let url = format!("{}/health/ready", dev.url);
        // While it waits for the others it says so, and nothing else.
        while !(dev.client().get(&url, &[]).await)
            .is_ok_and(|answer| !text(&answer.body).contains("sync: starting"))
        {
            assert!(started.elapsed() < PATIENCE, "not back:\n{}", self.log());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What it logged.
    pub fn log(&self) -> String {
        text(&std::fs::read(&self.log).unwrap_or_default())
    }
}

fn spawn(arguments: &[String], log: &Path) -> Child {
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    Command::new(SIGNET)
        .arg("serve")
        .args(arguments)
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What dev.json says.
#[derive(Clone)]
pub struct Dev {
    pub issuer: String,
    /// Where it answers: the issuer's address, or the node's own.
    pub url: String,
    pub ca: PathBuf,
    pub data: PathBuf,
    pub json: Value,
}

impl Dev {
    pub fn read(data: &Path) -> Dev {
        let json: Value =
            serde_json::from_slice(&std::fs::read(data.join("dev.json")).unwrap()).unwrap();
        let url = json["node"]["url"].as_str().or(json["issuer"].as_str());
        Dev {
            issuer: json["issuer"].as_str().unwrap().into(),
            url: url.unwrap().into(),
            ca: json["ca_cert"].as_str().unwrap().into(),
            data: data.into(),
            json,
        }
    }

    /// The data directory as an argument.
    pub fn dir(&self) -> &str {
        self.data.to_str().unwrap()
    }

    /// A client that believes the development CA.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(std::slice::from_ref(&self.ca)).unwrap()
    }

    /// A member of `clients`: (client_id, client_secret).
    pub fn credentials(&self, name: &str) -> (String, String) {
        let client = &self.json["clients"][name];
        let member = |m: &str| client[m].as_str().unwrap_or_default().to_owned();
        (member("client_id"), member("client_secret"))
    }

    /// POSTs a form to an endpoint, as this client (client_secret_basic) if one is named.
    pub async fn post(&self, path: &str, client: Option<&str>, fields: &[(&str, &str)]) -> Answer {
        let authorization = client.map(|name| {
            let (id, secret) = self.credentials(name);
            basic(&id, &secret)
        });
        let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
        if let Some(value) = &authorization {
            headers.push(("authorization", value));
        }
        let url = format!("{}{path}", self.url);
        self.client()
            .send(http::Method::POST, &url, &headers, form(fields).into())
            .await
            .unwrap()
    }

    /// An access token of the service client.
    pub async fn service_token(&self) -> String {
        let answer = self
            .post(
                "/token",
                Some("service"),
                &[("grant_type", "client_credentials")],
            )
            .await;
        body(&answer)["access_token"].as_str().unwrap().to_owned()
    }
}

/// An answer's JSON.
pub fn body(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body)
        .unwrap_or_else(|e| panic!("{}: {e}: {}", answer.status, text(&answer.body)))
}

/// An `Authorization` header's value (RFC 6749 section 2.3.1).
pub fn basic(id: &str, secret: &str) -> String {
    // RFC 6749 section 2.3.1: form-encoded, then Basic.
    let pair = format!("{}:{}", percent_encode(id), percent_encode(secret));
    format!("Basic {}", base64(pair.as_bytes()))
}

pub fn base64(data: &[u8]) -> String {
    let mut text: String = signet_encoding::base64url::encode(data)
        .chars()
        .map(|c| match c {
            '-' => '+',
            '_' => '/',
            other => other,
        })
        .collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Alice's browser: cookies, forms, and no JavaScript.
pub struct Browser {
    dev: Dev,
    cookies: Vec<(String, String)>,
}

/// The redirect that the tests' clients use.
pub const REDIRECT: &str = "http://127.0.0.1/callback";
/// PKCE: RFC 7636 appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

impl Browser {
    /// From now on the same browser speaks to another node: cookies know no port.
    pub fn go_to(&mut self, dev: &Dev) {
        self.dev = dev.clone();
    }

    pub fn new(dev: &Dev) -> Browser {
        Browser {
            dev: dev.clone(),
            cookies: Vec::new(),
        }
    }

    /// The cookies as a header.
    pub fn cookie_header(&self) -> String {
        let pairs: Vec<String> = self
            .cookies
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        pairs.join("; ")
    }

    /// An authorization request by way of login and consent; the URL that the client is sent.
    pub async fn authorize(&mut self, parameters: &[(&str, &str)]) -> String {
        let start = format!("{}/authorize?{}", self.dev.url, form(parameters));
        let user = self.dev.json["user"].clone();
        let back = self.walk(&start, &user, &[], REDIRECT).await;
        back.expect("the login ends with the client")
    }

    /// Follows redirects and fills in forms as this user, who allows everything. `fields`: what
    /// else is typed where it is asked for. Gives the first redirect that begins with `end`; none
    /// where a page has no form.
    pub async fn walk(
        &mut self,
        start: &str,
        user: &Value,
        fields: &[(&str, &str)],
        end: &str,
    ) -> Option<String> {
        let mut url = start.to_owned();
        let mut post: Option<String> = None;
        for _ in 0..12 {
            let answer = self.request(&url, post.take()).await;
            if answer.status.is_redirection() {
                let location = answer.header("location").unwrap().to_owned();
                if location.starts_with(end) {
                    return Some(location);
                }
                url = self.absolute(&location);
                continue;
            }
            let html = text(&answer.body);
            let form_ = page::Form::find(&html)?;
            let mut sent: Vec<(&str, &str)> = form_
                .hidden
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            if form_.asks_for("password") {
                sent.push(("username", user["username"].as_str().unwrap()));
                sent.push(("password", user["password"].as_str().unwrap()));
            }
            sent.extend(fields.iter().filter(|(name, _)| form_.asks_for(name)));
            sent.push(("decision", "allow"));
            post = Some(form(&sent));
            url = self.absolute(&form_.action);
        }
        panic!("the pages do not come to an end");
    }

    /// A code for `native`, with the PKCE pair above.
    pub async fn code(&mut self, client_id: &str, scope: &str) -> String {
        let back = self
            .authorize(&[
                ("response_type", "code"),
                ("client_id", client_id),
                ("redirect_uri", REDIRECT),
                ("scope", scope),
                ("code_challenge", CHALLENGE),
                ("code_challenge_method", "S256"),
            ])
            .await;
        parameter(&back, "code").unwrap_or_else(|| panic!("no code: {back}"))
    }

    /// The account page, by way of the login where that is asked for.
    pub async fn account(&mut self) -> String {
        let url = format!("{}/account", self.dev.url);
        let answer = self.request(&url, None).await;
        let html = text(&answer.body);
        let form_ = page::Form::find(&html).unwrap_or_else(|| panic!("no form: {html}"));
        if !form_.asks_for("password") || html.contains("name=\"new_password\"") {
            return html;
        }
        let user = self.dev.json["user"].clone();
        let mut fields: Vec<(&str, &str)> = form_
            .hidden
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        fields.push(("username", user["username"].as_str().unwrap()));
        fields.push(("password", user["password"].as_str().unwrap()));
        fields.push(("decision", "allow"));
        let mut answer = self
            .request(&self.absolute(&form_.action), Some(form(&fields)))
            .await;
        while answer.status.is_redirection() {
            let location = self.absolute(answer.header("location").unwrap());
            answer = self.request(&location, None).await;
        }
        text(&answer.body)
    }

    /// One of the account page's forms; the page that answers.
    pub async fn submit_account(&mut self, html: &str, fields: &[(&str, &str)]) -> String {
        let form_ = page::Form::find(html).unwrap();
        let interaction = form_.hidden.iter().find(|(n, _)| n == "interaction");
        let mut all = vec![("interaction", interaction.unwrap().1.as_str())];
        all.extend(fields);
        let url = format!("{}/account", self.dev.url);
        let answer = self.request(&url, Some(form(&all))).await;
        text(&answer.body)
    }

    fn absolute(&self, location: &str) -> String {
        if location.starts_with("https://") {
            location.to_owned()
        } else {
            format!("{}/{}", self.dev.url, location.trim_start_matches('/'))
        }
    }

    async fn request(&mut self, url: &str, post: Option<String>) -> Answer {
        let cookies = self.cookie_header();
        let issuer = self.dev.url.clone();
        let mut headers = vec![("cookie", cookies.as_str()), ("accept", "text/html")];
        let method = match post {
            Some(_) => {
                headers.push(("content-type", "application/x-www-form-urlencoded"));
                headers.push(("origin", issuer.as_str()));
                http::Method::POST
            }
            None => http::Method::GET,
        };
        let answer = self
            .dev
            .client()
            .send(method, url, &headers, post.unwrap_or_default().into())
            .await
            .unwrap();
        for value in answer.headers.get_all("set-cookie") {
            let (name, rest) = value.to_str().unwrap().split_once('=').unwrap();
            let content = rest.split(';').next().unwrap();
            self.cookies.retain(|(n, _)| n != name);
            if !content.is_empty() {
                self.cookies.push((name.to_owned(), content.to_owned()));
            }
        }
        answer
    }
}

/// A query parameter (the tests' values need no decoding).
pub fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    query
        .split('&')
        .find_map(|p| p.strip_prefix(name)?.strip_prefix('='))
        .map(str::to_owned)
}
