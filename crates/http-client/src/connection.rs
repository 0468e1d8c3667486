//! A connection, a request, an answer.
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::{ClientConfig, pki_types::ServerName};
use std::{pin::Pin, sync::Arc};
use tokio::io::{AsyncRead, AsyncWrite};

/// What requests are sent by, one at a time.
pub type Sender = hyper::client::conn::http1::SendRequest<Full<Bytes>>;

/// A connection: it goes on for as long as this is polled, and ends with it.
pub type Driven = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// The handshake of TLS: nothing was sent.
    #[error("{0}")]
    Tls(String),
    /// What came back is no HTTP, or was cut off.
    #[error("{0}")]
    Http(String),
    /// The answer's body has more bytes than it may have.
    #[error("the answer is too large")]
    TooLarge,
}

/// Shakes hands over a stream that stands; with TLS where there is a configuration, for the name
/// that the server's certificate has to have.
///
/// # Errors
/// See [`Unanswered`].
pub async fn connect<S>(
    stream: S,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
) -> Result<(Sender, Driven), Unanswered>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Some((config, name)) = tls else {
        return begin(stream).await;
    };
    let connector = tokio_rustls::TlsConnector::from(config);
    let stream = connector.connect(name, stream).await;
    begin(stream.map_err(|e| Unanswered::Tls(e.to_string()))?).await
}

async fn begin<S>(stream: S) -> Result<(Sender, Driven), Unanswered>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = shaken.map_err(|e| Unanswered::Http(e.to_string()))?;
    let driven = Box::pin(async move {
        // How it ended is seen by whoever reads the answer.
        let _ = connection.await;
    });
    Ok((sender, driven))
}

/// An answer, whole.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// A header's text, if it is there and readable.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Sends a request over a connection that somebody drives, and reads the answer.
///
/// # Errors
/// See [`Unanswered`].
pub async fn send(
    sender: &mut Sender,
    request: Request<Full<Bytes>>,
    max_bytes: usize,
) -> Result<Answer, Unanswered> {
    let (head, body) = begin_answer(sender, request).await?.into_parts();
    Ok(Answer {
        status: head.status,
        headers: head.headers,
        body: read(body, max_bytes).await?,
    })
}

/// Sends a request over a connection that somebody drives, and reads the answer's head.
///
/// # Errors
/// See [`Unanswered`].
pub async fn begin_answer(
    sender: &mut Sender,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Unanswered> {
    let http = |e: hyper::Error| Unanswered::Http(e.to_string());
    sender.ready().await.map_err(http)?;
    sender.send_request(request).await.map_err(http)
}

/// A body that is read line by line, as it comes.
#[derive(Debug)]
pub struct Lines {
    body: Incoming,
    buffered: Vec<u8>,
    max_bytes: usize,
}

impl Lines {
    /// Those of a body; none may have more bytes than `max_bytes`.
    pub fn of(body: Incoming, max_bytes: usize) -> Lines {
        Lines {
            body,
            buffered: Vec::new(),
            max_bytes,
        }
    }

    /// The next line, without its end; none where the body is over. What follows the last line end
    /// is no line: it was cut off.
    ///
    /// # Errors
    /// See [`Unanswered`].
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Unanswered> {
        let mut looked = 0;
        loop {
            if let Some(at) = self.buffered[looked..].iter().position(|b| *b == b'\n') {
                let rest = self.buffered.split_off(looked + at + 1);
                let mut line = std::mem::replace(&mut self.buffered, rest);
                line.pop();
                return Ok(Some(line));
            }
            looked = self.buffered.len();
            if looked > self.max_bytes {
                return Err(Unanswered::TooLarge);
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(Unanswered::Http(error.to_string())),
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_default();
                    self.buffered.extend_from_slice(&data);
                }
            }
        }
    }
}

/// A body, of so many bytes at most.
///
/// # Errors
/// See [`Unanswered`].
pub async fn read(body: Incoming, max_bytes: usize) -> Result<Bytes, Unanswered> {
    let read = Limited::new(body, max_bytes).collect().await;
    let read = read.map_err(|error| match error.is::<LengthLimitError>() {
        true => Unanswered::TooLarge,
        false => Unanswered::Http(error.to_string()),
    })?;
    Ok(read.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// What a server that says this answers with.
    async fn asked(said: &'static [u8], max_bytes: usize) -> Result<Answer, Unanswered> {
        let (near, mut far) = tokio::io::duplex(4096);
        let server = tokio::spawn(async move {
            let mut heard = [0; 4096];
            let _ = far.read(&mut heard).await;
            let _ = far.write_all(said).await;
        });
        let (mut sender, driven) = connect(near, None).await?;
        let driven = tokio::spawn(driven);
        let request = Request::get("/").header("host", "a").body(Full::default());
        let answer = send(&mut sender, request.unwrap(), max_bytes).await;
        driven.abort();
        server.await.unwrap();
        answer
    }

    #[tokio::test]
    async fn an_answer_is_whole_and_bounded() {
        let said = b"HTTP/1.1 200 OK\r\nx-a: b\r\ncontent-length: 5\r\n\r\nhello";
        let answer = asked(said, 5).await.unwrap();
        assert_eq!(
            (answer.status, &*answer.body),
            (StatusCode::OK, &b"hello"[..])
        );
        assert_eq!(answer.header("X-A"), Some("b"));
        assert_eq!(asked(said, 4).await.unwrap_err(), Unanswered::TooLarge);
        let cut = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell";
        assert!(matches!(asked(cut, 5).await, Err(Unanswered::Http(_))));
        assert!(matches!(asked(b"what?", 5).await, Err(Unanswered::Http(_))));
    }

    #[tokio::test]
    async fn lines_come_one_by_one_and_are_bounded() {
        let (near, mut far) = tokio::io::duplex(4096);
        let server = tokio::spawn(async move {
            let mut heard = [0; 4096];
            let _ = far.read(&mut heard).await;
            let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            let _ = far.write_all(head).await;
            for chunk in ["on", "e\n\ntwo", "\n0123456789"] {
                let chunk = format!("{:x}\r\n{chunk}\r\n", chunk.len());
                let _ = far.write_all(chunk.as_bytes()).await;
            }
        });
        let (mut sender, driven) = connect(near, None).await.unwrap();
        let driven = tokio::spawn(driven);
        let request = Request::get("/").header("host", "a").body(Full::default());
        let answer = begin_answer(&mut sender, request.unwrap()).await.unwrap();
        let mut lines = Lines::of(answer.into_body(), 9);
        for line in ["one", "", "two"] {
            assert_eq!(lines.next().await.unwrap().unwrap(), line.as_bytes());
        }
        assert_eq!(lines.next().await.unwrap_err(), Unanswered::TooLarge);
        driven.abort();
        server.await.unwrap();
    }
}
