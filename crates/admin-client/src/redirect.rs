//! The end of a login in the browser: a port of the loopback address that takes one answer (RFC
//! 8252 section 7.3).

use std::time::Duration;

use signet_crypto::Secret;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use signet_http_client::text::query_parameter;
use signet_terminal::output::Failure;

/// The longest request that is read: a code, a state and an issuer fit many times.
const MAX_HEAD: usize = 16 * 1024;
/// A browser sends its request at once; who does not is not waited for.
const HEAD_TIME: Duration = Duration::from_secs(2);
const PATH: &str = "/callback";

/// A listener, and its address as the client's redirect.
pub(crate) struct Redirect {
    listener: TcpListener,
    uri: String,
}

impl Redirect {
    /// Listens on a free port.
    pub(crate) async fn listen() -> Result<Redirect, Failure> {
        let failed =
            |e: std::io::Error| Failure::unusable(format!("cannot listen for the browser: {e}"));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Redirect {
            listener,
            uri: format!("http://127.0.0.1:{port}{PATH}"),
        })
    }

    /// The `redirect_uri`.
    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// Waits for the answer to the request with this `state`, and gives its code. Whatever else
    /// knocks is answered 404 and changes nothing: any program of this machine can.
    pub(crate) async fn answer(
        &self,
        state: &str,
        issuer: &str,
    ) -> Result<Secret<String>, Failure> {
        loop {
            let (mut stream, _) =
                self.listener.accept().await.map_err(|e| {
                    Failure::unusable(format!("cannot listen for the browser: {e}"))
                })?;
            let asked = timeout(HEAD_TIME, request(&mut stream)).await;
            let Some(query) = asked.ok().flatten() else {
                say(&mut stream, "404 Not Found", "There is nothing here.").await;
                continue;
            };
            let member = |name: &str| query_parameter(&query, name);
            // RFC 9207 section 2.4: of two servers, the answer is this one's. Every Signet server
            // says so in its metadata, so an answer without `iss` is none of it.
            if member("state").as_deref() != Some(state) || member("iss").as_deref() != Some(issuer)
            {
                say(
                    &mut stream,
                    "400 Bad Request",
                    "This is not the login that was begun.",
                )
                .await;
                continue;
            }
            if let Some(error) = member("error") {
                say(
                    &mut stream,
                    "200 OK",
                    "The login was refused. You can close this page.",
                )
                .await;
                let words = member("error_description").unwrap_or_else(|| error.clone());
                return Err(Failure::no(
                    &error,
                    format!("the login was refused: {words}"),
                ));
            }
            if let Some(code) = member("code") {
                say(
                    &mut stream,
                    "200 OK",
                    "You are logged in. You can close this page.",
                )
                .await;
                return Ok(Secret::new(code));
            }
            say(&mut stream, "400 Bad Request", "The answer has no code.").await;
        }
    }
}

/// The query of a GET of the redirect's path; none for anything else.
async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > MAX_HEAD || stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let line = head.split(|b| *b == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?')?;
    (method == "GET" && path == PATH).then(|| query.to_owned())
}

async fn say(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "<!doctype html><html lang=\"en\"><title>Signet</title><main><p>{text}</p></main></html>"
    );
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         referrer-policy: no-referrer\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // The browser may be gone; what it said counts.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_answer_to_this_login_is_taken() {
        let redirect = Redirect::listen().await.unwrap();
        let address = redirect.listener.local_addr().unwrap();
        let knock = async |request: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            answer
        };
        let browser = async {
            for (request, status) in [
                ("GET /favicon.ico HTTP/1.1\r\n\r\n", "404"),
                ("POST /callback?code=x&state=s HTTP/1.1\r\n\r\n", "404"),
                ("GET /callback?code=x&state=other HTTP/1.1\r\n\r\n", "400"),
                ("GET /callback?code=x&state=s HTTP/1.1\r\n\r\n", "400"),
                ("GET /callback?error=x&state=s HTTP/1.1\r\n\r\n", "400"),
                (
                    "GET /callback?code=x&state=s&iss=https%3A%2F%2Fevil HTTP/1.1\r\n\r\n",
                    "400",
                ),
                (
                    "GET /callback?code=good&state=s&iss=https%3A%2F%2Fid HTTP/1.1\r\n\r\n",
                    "200",
                ),
            ] {
                let answer = knock(request).await;
                assert!(
                    answer.starts_with(&format!("HTTP/1.1 {status}")),
                    "{answer}"
                );
            }
        };
        let (code, ()) = tokio::join!(redirect.answer("s", "https://id"), browser);
        assert_eq!(code.unwrap().expose(), "good");
    }
}
