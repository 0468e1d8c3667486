//! One request, under all the bounds.
use super::{address::is_public, lifetime::lifetime};
use bytes::Bytes;
use http::{HeaderValue, Uri, header};
use http_body_util::{BodyExt, Full};
use rustls::{ClientConfig, pki_types::ServerName};
use signet_http_client::{Driven, Sender, Trust, Unanswered};
use signet_telemetry::trace::{
    self,
    context::{TRACEPARENT, TRACESTATE},
};
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::TcpStream,
    sync::{OnceCell, Semaphore},
    time::timeout,
};

/// What may be fetched, and for how long.
#[derive(Clone, Debug)]
pub struct OutboundOptions {
    /// Also `http:` URLs.
    pub allow_http: bool,
    /// Also addresses of this machine (development).
    pub allow_loopback: bool,
    /// Also addresses of private networks, link-local ones and the like.
    pub allow_private: bool,
    /// PEM of further certificates to believe, besides the system's.
    pub trust: Option<Vec<u8>>,
    /// For everything: name, connection, handshake, answer.
    pub timeout: Duration,
    /// Bytes of an answer's body.
    pub max_bytes: usize,
    /// Fetches at once; more wait for their turn within their own timeout.
    pub concurrency: usize,
}

impl Default for OutboundOptions {
    fn default() -> OutboundOptions {
        OutboundOptions {
            allow_http: false,
            allow_loopback: false,
            allow_private: false,
            trust: None,
            timeout: Duration::from_secs(5),
            max_bytes: 64 * 1024,
            concurrency: 64,
        }
    }
}

/// Why nothing was fetched. The text is for the log: a caller on the outside learns no more than
/// "could not be fetched".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// Not an absolute https URL without credentials and fragment.
    #[error("the URL may not be fetched")]
    Url,
    /// The name has no address that may be connected to.
    #[error(
        "the name has no address that may be reached: private and loopback ones need allow_private_addresses or allow_loopback under [outbound]"
    )]
    Address,
    /// Connection or handshake.
    #[error("connection failed: {0}")]
    Connect(String),
    /// Too slow.
    #[error("it took too long")]
    TimedOut,
    /// Any status but 200; redirects are not followed.
    #[error("the answer's status is {0}")]
    Status(u16),
    /// The answer is no HTTP, is compressed, or was cut off.
    #[error("the answer cannot be read")]
    Answer,
    /// Beyond `max_bytes`.
    #[error("the answer is too large")]
    TooLarge,
    /// The content is not what was asked for.
    #[error("the content is malformed: {0}")]
    Content(&'static str),
}

impl FetchError {
    /// Something arrived, and it is not what was asked for.
    pub fn is_of_content(&self) -> bool {
        match self {
            FetchError::TooLarge | FetchError::Content(_) => true,
            FetchError::Url
            | FetchError::Address
            | FetchError::Connect(_)
            | FetchError::TimedOut
            | FetchError::Status(_)
            | FetchError::Answer => false,
        }
    }
}

/// A request whose answer counts whatever its status: of a client of somebody else's server.
#[derive(Clone, Debug, Default)]
pub struct Call<'a> {
    /// Absolute.
    pub url: &'a str,
    /// The media type that is asked for.
    pub accept: &'static str,
    /// `Authorization`; mark a secret one as sensitive.
    pub authorization: Option<HeaderValue>,
    /// A proof of RFC 9449.
    pub dpop: Option<HeaderValue>,
    /// `application/x-www-form-urlencoded`: the request is a POST.
    pub form: Option<Bytes>,
}

/// The answer to a [`Call`].
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status; never a redirect.
    pub status: u16,
    /// `DPoP-Nonce` (RFC 9449 section 8).
    pub dpop_nonce: Option<String>,
    /// At most `max_bytes`.
    pub body: Bytes,
}

/// The fetcher. One per process.
pub struct Outbound {
    options: OutboundOptions,
    /// Made at the first https fetch: reading the system's certificates costs time and memory that
    /// many servers never need.
    tls: OnceCell<Arc<ClientConfig>>,
    turns: Semaphore,
}

impl Default for Outbound {
    /// With the default options: https, to public addresses.
    fn default() -> Outbound {
        Outbound::new(OutboundOptions::default())
    }
}

impl Outbound {
    /// A fetcher under these options.
    pub fn new(options: OutboundOptions) -> Outbound {
        Outbound {
            turns: Semaphore::new(options.concurrency.max(1)),
            tls: OnceCell::new(),
            options,
        }
    }

    /// The body of a 200 answer. `accept` is the media type that is asked for.
    ///
    /// # Errors
    /// See `FetchError`; none is the server's own fault.
    pub async fn get(&self, url: &str, accept: &'static str) -> Result<Bytes, FetchError> {
        self.get_with_lifetime(url, accept)
            .await
            .map(|(body, _)| body)
    }

    /// The body of a 200 answer to a form that is posted. Nobody is authenticated by it.
    ///
    /// # Errors
    /// See `FetchError`; none is the server's own fault.
    pub async fn post(&self, url: &str, form: Vec<u8>) -> Result<Bytes, FetchError> {
        let outgoing = Outgoing {
            form: Some(form.into()),
            ..Outgoing::get(url, "*/*")
        };
        self.send(&outgoing).await.map(|(body, _)| body)
    }

    /// As [`Outbound::get`], with how long the answer says that it stays good.
    pub(crate) async fn get_with_lifetime(
        &self,
        url: &str,
        accept: &'static str,
    ) -> Result<(Bytes, Option<Duration>), FetchError> {
        let outgoing = Outgoing::get(url, accept);
        self.send(&outgoing).await
    }

    /// The body of a 200 answer to any request, with how long the answer says that it stays good.
    pub(crate) async fn send(
        &self,
        outgoing: &Outgoing<'_>,
    ) -> Result<(Bytes, Option<Duration>), FetchError> {
        let whole = async {
            // The semaphore is never closed.
            let turn = self.turns.acquire().await;
            let _turn = turn.map_err(|_| FetchError::TimedOut)?;
            let (head, mut body) = self.open(outgoing).await?;
            let lifetime = lifetime(&head.headers);
            let mut content = Vec::new();
            while let Some(data) = body.chunk().await? {
                if content.len() + data.len() > self.options.max_bytes {
                    return Err(FetchError::TooLarge);
                }
                content.extend_from_slice(&data);
            }
            Ok((content.into(), lifetime))
        };
        timeout(self.options.timeout, whole)
            .await
            .unwrap_or(Err(FetchError::TimedOut))
    }

    /// A 200 answer whose body has no end: neither its length nor its time is bounded here. The
    /// head is.
    pub(crate) async fn stream(&self, outgoing: &Outgoing<'_>) -> Result<Streaming, FetchError> {
        timeout(self.options.timeout, self.open(outgoing))
            .await
            .unwrap_or(Err(FetchError::TimedOut))
            .map(|(_, body)| body)
    }

    async fn open(
        &self,
        outgoing: &Outgoing<'_>,
    ) -> Result<(http::response::Parts, Streaming), FetchError> {
        let target = Target::parse(outgoing.url, &self.options)?;
        let request = outgoing.request(&target, Afterwards::Close)?;
        let (answer, connection) = self.ask(&target, request).await?;
        let (head, body) = checked(answer)?;
        Ok((head, Streaming { body, connection }))
    }

    /// The head of an answer, whatever its status, and what drives the connection.
    async fn ask(
        &self,
        target: &Target,
        request: http::Request<Full<Bytes>>,
    ) -> Result<(http::Response<hyper::body::Incoming>, Option<Driven>), FetchError> {
        let call = std::pin::pin!(self.ask_within(target, request));
        trace::step("call", call).to_server(&target.host).await
    }

    async fn ask_within(
        &self,
        target: &Target,
        request: http::Request<Full<Bytes>>,
    ) -> Result<(http::Response<hyper::body::Incoming>, Option<Driven>), FetchError> {
        let mut request = request;
        say_trace(request.headers_mut());
        let (mut sender, mut connection) = self.shake_hands(target).await?;
        let mut answer = std::pin::pin!(sender.send_request(request));
        // The connection is driven here and not by a task of its own: when this future is dropped,
        // so is the socket.
        let (answer, connection) = tokio::select! {
            answer = &mut answer => (answer, Some(connection)),
            () = &mut connection => (answer.await, None),
        };
        Ok((answer.map_err(|_| FetchError::Answer)?, connection))
    }

    /// The answer to a call, whatever its status, under all the bounds of a fetch.
    ///
    /// # Errors
    /// See `FetchError`. A redirect is one: it is not followed.
    pub async fn call(&self, call: &Call<'_>) -> Result<Reply, FetchError> {
        let whole = async {
            // The semaphore is never closed.
            let turn = self.turns.acquire().await;
            let _turn = turn.map_err(|_| FetchError::TimedOut)?;
            let target = Target::parse(call.url, &self.options)?;
            let outgoing = Outgoing {
                url: call.url,
                accept: call.accept,
                authorization: call.authorization.clone(),
                form: call.form.clone(),
            };
            let mut request = outgoing.request(&target, Afterwards::Close)?;
            if let Some(proof) = &call.dpop {
                request.headers_mut().insert("dpop", proof.clone());
            }
            let (answer, connection) = self.ask(&target, request).await?;
            let (head, body) = answer.into_parts();
            if head.status.is_redirection() {
                return Err(FetchError::Status(head.status.as_u16()));
            }
            if head.headers.contains_key(header::CONTENT_ENCODING) {
                return Err(FetchError::Answer);
            }
            let mut body = Streaming { body, connection };
            let mut content = Vec::new();
            while let Some(data) = body.chunk().await? {
                if content.len() + data.len() > self.options.max_bytes {
                    return Err(FetchError::TooLarge);
                }
                content.extend_from_slice(&data);
            }
            let nonce = head.headers.get("dpop-nonce");
            Ok(Reply {
                status: head.status.as_u16(),
                dpop_nonce: nonce.and_then(|nonce| Some(nonce.to_str().ok()?.to_owned())),
                body: content.into(),
            })
        };
        timeout(self.options.timeout, whole)
            .await
            .unwrap_or(Err(FetchError::TimedOut))
    }

    /// A conversation over TCP in another protocol than HTTP, under the bounds of a fetch: where it
    /// may go to, how long it may take, how many there are at once. Whom TLS trusts is handed on.
    ///
    /// # Errors
    /// See `FetchError`; what goes wrong in the conversation is in its outcome.
    pub async fn converse<T, F>(
        &self,
        host: &str,
        port: u16,
        talk: impl FnOnce(TcpStream, Arc<ClientConfig>) -> F,
    ) -> Result<T, FetchError>
    where
        F: Future<Output = T>,
    {
        let whole = async {
            // The semaphore is never closed.
            let turn = self.turns.acquire().await;
            let _turn = turn.map_err(|_| FetchError::TimedOut)?;
            let stream = self.connect(host, port).await?;
            let config = self.tls.get_or_init(|| self.make_tls()).await.clone();
            Ok(talk(stream, config).await)
        };
        timeout(self.options.timeout, whole)
            .await
            .unwrap_or(Err(FetchError::TimedOut))
    }

    /// A connection to the server of a URL, for [`Outbound::send_on`], and what drives it.
    pub(super) async fn keep(&self, url: &str) -> Result<(Sender, Driven), FetchError> {
        let target = Target::parse(url, &self.options)?;
        timeout(self.options.timeout, self.shake_hands(&target))
            .await
            .unwrap_or(Err(FetchError::TimedOut))
    }

    /// The body of a 200 answer to a request over a connection that stands, and goes on standing.
    pub(super) async fn send_on(
        &self,
        sender: &mut Sender,
        outgoing: &Outgoing<'_>,
    ) -> Result<Bytes, FetchError> {
        let target = Target::parse(outgoing.url, &self.options)?;
        let request = outgoing.request(&target, Afterwards::Keep)?;
        let whole = async {
            sender.ready().await.map_err(|_| FetchError::Answer)?;
            let answer = sender.send_request(request).await;
            let (_, body) = checked(answer.map_err(|_| FetchError::Answer)?)?;
            let body = signet_http_client::read(body, self.options.max_bytes).await;
            body.map_err(|error| match error {
                Unanswered::TooLarge => FetchError::TooLarge,
                Unanswered::Tls(_) | Unanswered::Http(_) => FetchError::Answer,
            })
        };
        timeout(self.options.timeout, whole)
            .await
            .unwrap_or(Err(FetchError::TimedOut))
    }

    async fn shake_hands(&self, target: &Target) -> Result<(Sender, Driven), FetchError> {
        let stream = self.connect(&target.host, target.port).await?;
        // What is asked is short, and somebody waits for it.
        stream
            .set_nodelay(true)
            .map_err(|e| FetchError::Connect(e.to_string()))?;
        let tls = match target.https {
            true => {
                let config = self.tls.get_or_init(|| self.make_tls()).await.clone();
                let name = ServerName::try_from(target.host.clone());
                Some((config, name.map_err(|_| FetchError::Url)?))
            }
            false => None,
        };
        let connected = signet_http_client::connect(stream, tls).await;
        connected.map_err(|error| match error {
            Unanswered::Tls(why) => FetchError::Connect(why),
            Unanswered::Http(_) | Unanswered::TooLarge => FetchError::Answer,
        })
    }

    /// Resolves once, checks each address, and connects to the first that answers of those that
    /// passed.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, FetchError> {
        let addresses: Vec<SocketAddr> = match host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => tokio::net::lookup_host((host, port))
                .await
                .map_err(|_| FetchError::Address)?
                .collect(),
        };
        let mut failure = FetchError::Address;
        for address in addresses
            .into_iter()
            .filter(|a| self.may_reach(a.ip()))
            .take(3)
        {
            match timeout(self.options.timeout / 2, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failure = FetchError::Connect(error.to_string()),
                Err(_) => failure = FetchError::TimedOut,
            }
        }
        Err(failure)
    }

    fn may_reach(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        is_public(address)
            || (self.options.allow_loopback && address.is_loopback())
            || (self.options.allow_private
                && !address.is_loopback()
                && !address.is_multicast()
                && !address.is_unspecified())
    }

    async fn make_tls(&self) -> Arc<ClientConfig> {
        let trust = self.options.trust.clone();
        let load = move || {
            let trusted = Trust::system();
            match trust {
                Some(pem) => trusted.and_usable(&pem),
                None => trusted,
            }
        };
        // Reading files: not on the worker. A task that panicked leaves nobody trusted.
        let trusted = tokio::task::spawn_blocking(load).await;
        let trusted = trusted.unwrap_or_else(|_| Trust::nobody());
        // Invariant: the default provider has suites for both versions.
        trusted
            .tls()
            .expect("the default provider speaks TLS 1.2 and 1.3")
    }
}

/// Says which trace a request belongs to, where it belongs to one that is to be said.
fn say_trace(headers: &mut http::HeaderMap) {
    let Some((parent, state)) = trace::outgoing() else {
        return;
    };
    for (name, value) in [(TRACEPARENT, parent), (TRACESTATE, state)] {
        if let Ok(value) = HeaderValue::try_from(value)
            && !value.is_empty()
        {
            headers.insert(name, value);
        }
    }
}

fn checked(
    answer: http::Response<hyper::body::Incoming>,
) -> Result<(http::response::Parts, hyper::body::Incoming), FetchError> {
    if answer.status() != http::StatusCode::OK {
        return Err(FetchError::Status(answer.status().as_u16()));
    }
    if answer.headers().contains_key(header::CONTENT_ENCODING) {
        return Err(FetchError::Answer);
    }
    Ok(answer.into_parts())
}

/// The body of an answer, piece by piece. Dropping it closes the connection.
pub(crate) struct Streaming {
    body: hyper::body::Incoming,
    /// None once it has ended
    connection: Option<Driven>,
}

impl Streaming {
    /// The next piece; None after the last.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, FetchError> {
        loop {
            let frame = match &mut self.connection {
                None => self.body.frame().await,
                Some(connection) => tokio::select! {
                    frame = self.body.frame() => frame,
                    () = connection => {
                        self.connection = None;
                        continue;
                    }
                },
            };
            match frame {
                None => return Ok(None),
                Some(frame) => {
                    // Trailers say nothing here.
                    if let Ok(data) = frame.map_err(|_| FetchError::Answer)?.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

/// What becomes of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Afterwards {
    Close,
    Keep,
}

/// A request that is to be sent.
pub(crate) struct Outgoing<'a> {
    pub(crate) url: &'a str,
    /// the media type that is asked for
    pub(crate) accept: &'static str,
    pub(crate) authorization: Option<HeaderValue>,
    /// `application/x-www-form-urlencoded`: the request is a POST
    pub(crate) form: Option<Bytes>,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn get(url: &'a str, accept: &'static str) -> Outgoing<'a> {
        Outgoing {
            url,
            accept,
            authorization: None,
            form: None,
        }
    }

    fn request(
        &self,
        target: &Target,
        afterwards: Afterwards,
    ) -> Result<http::Request<Full<Bytes>>, FetchError> {
        let method = match self.form {
            Some(_) => http::Method::POST,
            None => http::Method::GET,
        };
        let mut request = http::Request::builder()
            .method(method)
            .uri(target.path.as_str())
            .header(header::HOST, target.authority.as_str())
            .header(header::ACCEPT, self.accept)
            .header(header::USER_AGENT, "signet");
        if afterwards == Afterwards::Close {
            request = request.header(header::CONNECTION, "close");
        }
        if let Some(value) = &self.authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        if self.form.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        }
        request
            .body(Full::new(self.form.clone().unwrap_or_default()))
            .map_err(|_| FetchError::Url)
    }
}

struct Target {
    https: bool,
    host: String,
    port: u16,
    authority: String,
    path: String,
}

impl Target {
    fn parse(url: &str, options: &OutboundOptions) -> Result<Target, FetchError> {
        if url.len() > 2048 || url.contains(['#', '@', '\\']) {
            return Err(FetchError::Url);
        }
        let uri: Uri = url.parse().map_err(|_| FetchError::Url)?;
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if options.allow_http => false,
            _ => return Err(FetchError::Url),
        };
        let authority = uri.authority().ok_or(FetchError::Url)?;
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']');
        if host.is_empty() {
            return Err(FetchError::Url);
        }
        Ok(Target {
            https,
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(if https { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: uri.path_and_query().map_or("/", |p| p.as_str()).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
            .block_on(future)
    }
    fn local() -> OutboundOptions {
        OutboundOptions {
            allow_http: true,
            allow_loopback: true,
            timeout: Duration::from_millis(800),
            max_bytes: 1000,
            ..OutboundOptions::default()
        }
    }
    async fn answer(raw: Vec<u8>) -> Result<Bytes, FetchError> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&raw).await;
            if raw.ends_with(b"SLOW") {
                tokio::time::sleep(Duration::from_secs(9)).await;
            }
        });
        let url = format!("http://127.0.0.1:{port}/jwks");
        Outbound::new(local()).get(&url, "application/json").await
    }

    #[test]
    fn urls_that_are_not_plain_https_are_refused() {
        for url in [
            "http://example.com/",
            "ftp://example.com/",
            "https://user@example.com/",
            "https://example.com/#x",
            "https:///x",
            "/x",
            "",
        ] {
            let got = Target::parse(url, &OutboundOptions::default());
            assert!(got.is_err(), "{url}");
        }
    }

    #[test]
    fn private_addresses_are_refused_before_a_connection() {
        run(async {
            let outbound = Outbound::new(OutboundOptions::default());
            for url in [
                "https://127.0.0.1/",
                "https://[::1]/",
                "https://localhost/",
                "https://169.254.169.254/latest",
                "https://[::ffff:10.0.0.1]/",
            ] {
                let got = outbound.get(url, "application/json").await;
                assert_eq!(got, Err(FetchError::Address), "{url}");
            }
        });
    }

    #[test]
    fn a_good_answer_is_read() {
        let raw = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        let got = run(answer(raw.to_vec()));
        assert_eq!(got.unwrap().as_ref(), b"{}");
    }

    #[test]
    fn redirects_compression_size_and_slowness_are_refused() {
        let redirect =
            b"HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(run(answer(redirect.to_vec())), Err(FetchError::Status(302)));
        let gzip = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx";
        assert_eq!(run(answer(gzip.to_vec())), Err(FetchError::Answer));
        let mut large = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        large.extend_from_slice(&[b'x'; 2000]);
        assert_eq!(run(answer(large)), Err(FetchError::TooLarge));
        let slow = b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\nSLOW";
        assert_eq!(run(answer(slow.to_vec())), Err(FetchError::TimedOut));
    }
}
