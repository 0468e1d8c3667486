//! A load of refresh token rotations: each connection has a family of its own, and sends the token
//! that its last answer gave.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Method, StatusCode};
use rustls::pki_types::ServerName;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::LocalSet};

use crate::client::{Connection, Failure, Target};
use crate::load::flow::{self, RegisteredClient};
use crate::load::{Measured, answer};

/// Where the codes go; nobody listens there.
pub const REDIRECT: &str = "http://127.0.0.1:47999/callback";

/// A person's authorization code flow at one node: asked for with a session that exists, and
/// redeemed.
pub struct CodeFlow {
    path: String,
    cookie: String,
    authorization: String,
    redirect_uri: String,
}

impl CodeFlow {
    /// For a client of [`REDIRECT`], and the cookies of somebody who is logged in.
    #[must_use]
    pub fn new(client: &RegisteredClient, authorization: &str, cookie: &str) -> CodeFlow {
        CodeFlow {
            path: flow::authorization_path(client.client_id(), REDIRECT, ""),
            cookie: cookie.to_owned(),
            authorization: authorization.to_owned(),
            redirect_uri: REDIRECT.replace(':', "%3A").replace('/', "%2F"),
        }
    }

    /// Two round trips; the refresh token.
    ///
    /// # Errors
    /// An answer that is not what the flow expects.
    pub async fn run(&self, connection: &mut Connection) -> Result<String, Failure> {
        let headers = [("cookie", self.cookie.as_str())];
        let path = &self.path;
        let reply = connection.send(Method::GET, path, &headers, Bytes::new());
        let reply = reply.await?;
        let code = flow::location(&reply)
            .as_deref()
            .and_then(|place| {
                place
                    .split(['?', '&'])
                    .find_map(|p| p.strip_prefix("code="))
            })
            .ok_or_else(|| format!("no code: {}", String::from_utf8_lossy(&reply.body)))?
            .to_owned();
        let body = format!(
            "grant_type=authorization_code&code={code}&redirect_uri={}&code_verifier={}",
            self.redirect_uri,
            flow::VERIFIER,
        );
        let authorization = Some(self.authorization.as_str());
        let reply = connection
            .form("/token", authorization, body.into())
            .await?;
        if reply.status != StatusCode::OK {
            return Err(String::from_utf8_lossy(&reply.body).into_owned().into());
        }
        let token = reply.json()?["refresh_token"].as_str().map(str::to_owned);
        token.ok_or_else(|| "no refresh_token".into())
    }
}

/// The load.
pub struct Rotations {
    /// A node for each connection.
    pub targets: Vec<Target>,
    /// A refresh token for each connection; the last ones when it has finished.
    pub tokens: Vec<String>,
    /// `Authorization`
    pub authorization: String,
    /// How long.
    pub time: Duration,
}

struct Shared {
    authorization: String,
    end: Cell<Option<Instant>>,
    measured: RefCell<Measured>,
    failed: Cell<u64>,
}

impl Rotations {
    /// As many rotations as the nodes take. The statuses count all answers; a rotation that was
    /// refused ends its connection.
    ///
    /// # Errors
    /// A connection that could not be opened or broke, or a refusal.
    pub fn run(&mut self) -> Result<Measured, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let shared = Rc::new(Shared {
            authorization: self.authorization.clone(),
            end: Cell::new(None),
            measured: RefCell::default(),
            failed: Cell::new(0),
        });
        let local = LocalSet::new();
        let seconds = local.block_on(&runtime, async {
            let mut open = Vec::new();
            for target in &self.targets {
                let stream = TcpStream::connect(("127.0.0.1", target.port)).await?;
                stream.set_nodelay(true)?;
                let connector = tokio_rustls::TlsConnector::from(target.tls());
                let name = ServerName::try_from("localhost")?;
                open.push((target.port, connector.connect(name, stream).await?));
            }
            let begun = Instant::now();
            shared.end.set(Some(begun + self.time));
            let mut tasks = Vec::new();
            for ((port, stream), token) in open.into_iter().zip(&self.tokens) {
                let (shared, token) = (shared.clone(), token.clone());
                tasks.push(tokio::task::spawn_local(async move {
                    rotate(stream, port, token, &shared).await
                }));
            }
            for (task, token) in tasks.into_iter().zip(&mut self.tokens) {
                *token = task.await??;
            }
            Ok::<_, Failure>(begun.elapsed().as_secs_f64())
        })?;
        let mut measured = shared.measured.take();
        measured.accepted_us.sort_unstable();
        measured.rate = measured.statuses.iter().sum::<u64>() as f64 / seconds;
        match shared.failed.get() {
            0 => Ok(measured),
            failed => Err(format!("{failed} rotations were refused").into()),
        }
    }
}

async fn rotate(
    mut stream: tokio_rustls::client::TlsStream<TcpStream>,
    port: u16,
    mut token: String,
    shared: &Shared,
) -> Result<String, Failure> {
    let end = shared.end.get().ok_or("begun before the start")?;
    let mut read = Vec::with_capacity(4096);
    let mut request = Vec::with_capacity(4096);
    while Instant::now() < end {
        request.clear();
        let body = format!("grant_type=refresh_token&refresh_token={token}");
        request.extend_from_slice(
            format!(
                "POST /token HTTP/1.1\r\nhost: localhost:{port}\r\nauthorization: {}\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
                shared.authorization,
                body.len()
            )
            .as_bytes(),
        );
        let begun = Instant::now();
        stream.write_all(&request).await?;
        stream.flush().await?;
        read.clear();
        let status = answer(&mut stream, &mut read).await?;
        let took = u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX);
        let class = usize::from(status / 100);
        *shared
            .measured
            .borrow_mut()
            .statuses
            .get_mut(class)
            .ok_or("no such status")? += 1;
        let text = String::from_utf8_lossy(&read);
        let next = text
            .split_once("\"refresh_token\":\"")
            .and_then(|(_, rest)| rest.split('"').next());
        match next {
            Some(next) if class == 2 => token = next.to_owned(),
            Some(_) | None => {
                eprintln!("a rotation was refused: {text}");
                shared.failed.set(shared.failed.get() + 1);
                return Ok(token);
            }
        }
        shared.measured.borrow_mut().accepted_us.push(took);
    }
    Ok(token)
}
