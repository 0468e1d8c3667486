//! A collector: one address, one connection that is kept, and attempts that end.
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri, header};
use http_body_util::Full;
use rustls::{ClientConfig, pki_types::ServerName};
use serde_json::Value;
use signet_config::{model::Telemetry, telemetry};
use signet_http_client::{Answer, Sender, Trust};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::{
    net::TcpStream,
    task::JoinHandle,
    time::{sleep, timeout},
};

/// Most attempts to send one batch.
pub const MAX_ATTEMPTS: u32 = 5;
/// Longest time of one attempt: name, connection, handshake, answer.
pub const LONGEST_ATTEMPT: Duration = Duration::from_secs(10);
/// Longest time that a collector's `Retry-After` is waited for.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
/// Most bytes of an answer.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Before the second attempt; each further one waits for twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Where to send, and with which header fields.
#[derive(Debug)]
pub(crate) struct Collector {
    url: Uri,
    headers: HeaderMap,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// The outcome of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The collector has taken it, but for so many of what was in it.
    Taken { rejected: u64 },
    /// It has not; why, for the log.
    Lost(String),
}

enum Attempt {
    Done(Outcome),
    /// For this long, where the collector says.
    Again(String, Option<Duration>),
}

/// A connection that stands.
pub(crate) struct Connection {
    sender: Sender,
    driven: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.driven.abort();
    }
}

impl Collector {
    /// The one of a configuration; none where nothing is sent.
    ///
    /// # Errors
    /// What cannot be used, for the operator.
    pub(crate) fn of_config(config: &Telemetry, base: &Path) -> Result<Option<Collector>, String> {
        let Some(endpoint) = &config.otlp_endpoint else {
            return Ok(None);
        };
        let url = telemetry::endpoint(endpoint);
        let url = url.map_err(|why| format!("telemetry.otlp_endpoint: {why}"))?;
        let headers = config.otlp_headers.as_ref();
        let headers = headers.map(|headers| telemetry::headers(headers, base));
        let headers = headers.transpose();
        let headers = headers.map_err(|why| format!("telemetry.otlp_headers: {why}"))?;
        let tls = match url.scheme_str() {
            Some("https") => {
                let failed = |why: String| format!("telemetry.ca_file: {why}");
                let trust = match &config.ca_file {
                    None => Trust::system(),
                    Some(file) => {
                        let file = base.join(file);
                        let pem = std::fs::read(&file);
                        let pem = pem.map_err(|e| failed(format!("{}: {e}", file.display())))?;
                        let trust = Trust::system().and(&pem);
                        trust.map_err(|e| failed(format!("{}: {e}", file.display())))?
                    }
                };
                let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
                let name = ServerName::try_from(host.to_owned());
                let name = name.map_err(|_| "telemetry.otlp_endpoint: no host's name")?;
                Some((trust.tls().map_err(|e| failed(e.to_string()))?, name))
            }
            _ => None,
        };
        Ok(Some(Collector {
            url,
            headers: headers.unwrap_or_default(),
            tls,
        }))
    }

    /// Sends a batch, again where it is worth while, [`MAX_ATTEMPTS`] times in all. `path`:
    /// `/v1/traces` and the like. `rejected`: how an answer names what it did not take.
    pub(crate) async fn send(
        &self,
        connection: &mut Option<Connection>,
        path: &str,
        rejected: &str,
        batch: &Value,
    ) -> Outcome {
        let body = Bytes::from(batch.to_string());
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let tried = self.attempt(connection, path, rejected, body.clone()).await;
            let (why, asked) = match tried {
                Attempt::Done(outcome) => return outcome,
                Attempt::Again(why, asked) => (why, asked),
            };
            *connection = None;
            if attempt >= MAX_ATTEMPTS {
                return Outcome::Lost(why);
            }
            sleep(asked.map_or(pause, |asked| asked.min(MAX_RETRY_AFTER))).await;
            pause *= 2;
        }
        Outcome::Lost(String::new())
    }

    /// Sends a batch, once.
    pub(crate) async fn send_once(&self, path: &str, rejected: &str, batch: &Value) -> Outcome {
        let body = Bytes::from(batch.to_string());
        match self.attempt(&mut None, path, rejected, body).await {
            Attempt::Done(outcome) => outcome,
            Attempt::Again(why, _) => Outcome::Lost(why),
        }
    }

    async fn attempt(
        &self,
        connection: &mut Option<Connection>,
        path: &str,
        rejected: &str,
        body: Bytes,
    ) -> Attempt {
        let asked = timeout(LONGEST_ATTEMPT, self.ask(connection, path, body)).await;
        match asked {
            Err(_) => Attempt::Again("it took too long".to_owned(), None),
            Ok(Err(why)) => Attempt::Again(why, None),
            Ok(Ok(answer)) => judge(&answer, rejected),
        }
    }

    async fn ask(
        &self,
        connection: &mut Option<Connection>,
        path: &str,
        body: Bytes,
    ) -> Result<Answer, String> {
        // One that was kept may have been closed meanwhile: that is found out by whether it can
        // send, before anything is sent.
        if let Some(kept) = connection
            && kept.sender.ready().await.is_err()
        {
            *connection = None;
        }
        if connection.is_none() {
            *connection = Some(self.connect().await?);
        }
        let Some(kept) = connection else {
            return Err("there is no connection".to_owned());
        };
        let below = self.url.path().trim_end_matches('/');
        let mut request = Request::post(format!("{below}{path}"))
            .header(header::HOST, self.authority())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header(
                header::USER_AGENT,
                concat!("signet/", env!("CARGO_PKG_VERSION")),
            )
            .body(Full::new(body))
            .map_err(|e| e.to_string())?;
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        let answer = signet_http_client::send(&mut kept.sender, request, MAX_ANSWER_BYTES).await;
        answer.map_err(|e| e.to_string())
    }

    fn authority(&self) -> &str {
        self.url
            .authority()
            .map_or("", |authority| authority.as_str())
    }

    async fn connect(&self) -> Result<Connection, String> {
        let host = self.url.host().unwrap_or_default().trim_matches(['[', ']']);
        let usual = if self.tls.is_some() { 443 } else { 80 };
        let port = self.url.port_u16().unwrap_or(usual);
        let stream = TcpStream::connect((host, port)).await;
        let stream = stream.map_err(|e| e.to_string())?;
        let connected = signet_http_client::connect(stream, self.tls.clone()).await;
        let (sender, driven) = connected.map_err(|e| e.to_string())?;
        let driven = tokio::spawn(driven);
        Ok(Connection { sender, driven })
    }
}

/// OTLP 1.x, "OTLP/HTTP Response": which statuses are worth another attempt, and what of a batch
/// was taken. What cannot be read of a good answer says nothing.
fn judge(answer: &Answer, rejected: &str) -> Attempt {
    let status = answer.status;
    if status.is_success() {
        let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let rejected = match &said["partialSuccess"][rejected] {
            Value::String(text) => text.parse().unwrap_or(0),
            other => other.as_u64().unwrap_or(0),
        };
        return Attempt::Done(Outcome::Taken { rejected });
    }
    let why = format!("the collector answered {}", status.as_u16());
    match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => {
            let asked = answer.header("retry-after");
            let asked = asked.and_then(|text| text.trim().parse().ok());
            Attempt::Again(why, asked.map(Duration::from_secs))
        }
        _ => Attempt::Done(Outcome::Lost(why)),
    }
}
