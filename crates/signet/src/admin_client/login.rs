//! Authorization code with PKCE (RFC 7636), the login form filled in.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::Value;
use signet_crypto::{Secret, hash::sha256, random};
use signet_jose::base64url;

use super::{
    CLI_CLIENT_ID, CLI_REDIRECT_URI,
    page::{self, Form},
};
use crate::{
    cli::Failure,
    http_client::{Answer, HttpClient, form},
};

/// Pages and redirects of one login: far more than there are.
const MAX_STEPS: usize = 16;
const SCOPE: &str = "openid signet:admin";

/// Logs in and gives an access token for the admin API.
pub async fn log_in(
    client: &HttpClient,
    issuer: &str,
    username: &str,
    password: &Secret<String>,
) -> Result<Secret<String>, Failure> {
    let metadata = metadata(client, issuer).await?;
    let endpoint = |name: &str| {
        metadata[name]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Failure::unusable(format!("the server's metadata has no {name}")))
    };
    let verifier = base64url::encode(&random::bytes::<32>());
    let state = base64url::encode(&random::bytes::<16>());
    let challenge = base64url::encode(&sha256(verifier.as_bytes()));
    let query = form(&[
        ("response_type", "code"),
        ("client_id", CLI_CLIENT_ID),
        ("redirect_uri", CLI_REDIRECT_URI),
        ("scope", SCOPE),
        ("state", &state),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    let start = format!("{}?{query}", endpoint("authorization_endpoint")?);
    let mut browser = Browser {
        client,
        cookies: Vec::new(),
    };
    let back = browser.walk(start, username, password).await?;
    let answered = |name: &str| parameter(&back, name);
    if let Some(error) = answered("error") {
        let words = answered("error_description").unwrap_or_else(|| error.clone());
        return Err(Failure::no(
            &error,
            format!("the login was refused: {words}"),
        ));
    }
    // RFC 9207: the answer is this server's.
    if answered("state").as_ref() != Some(&state)
        || answered("iss").is_some_and(|iss| iss != issuer)
    {
        return Err(Failure::unusable(
            "the login's answer is not for this request",
        ));
    }
    let code = answered("code").ok_or_else(|| Failure::unusable("the login gave no code"))?;
    let body = form(&[
        ("grant_type", "authorization_code"),
        ("client_id", CLI_CLIENT_ID),
        ("redirect_uri", CLI_REDIRECT_URI),
        ("code", &code),
        ("code_verifier", &verifier),
    ]);
    let url = endpoint("token_endpoint")?;
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let answer = client
        .send(Method::POST, &url, &headers, Bytes::from(body))
        .await
        .map_err(Failure::unusable)?;
    let tokens = super::read(&answer, &url)?;
    let scope = tokens["scope"].as_str().unwrap_or(SCOPE);
    if !scope.split(' ').any(|s| s == "signet:admin") {
        return Err(Failure::no(
            "insufficient_scope",
            format!("{username} is not an administrator"),
        ));
    }
    match tokens["access_token"].as_str() {
        Some(token) => Ok(Secret::new(token.to_owned())),
        None => Err(Failure::unusable("the server gave no access token")),
    }
}

/// The user and session that a token came of. Unverified: it is the server's own, just received.
pub fn session_of(token: &str) -> Option<(String, String)> {
    let payload = base64url::decode(token.split('.').nth(1)?.as_bytes()).ok()?;
    let claims: Value = serde_json::from_slice(&payload).ok()?;
    Some((
        claims["sub"].as_str()?.to_owned(),
        claims["sid"].as_str()?.to_owned(),
    ))
}

async fn metadata(client: &HttpClient, issuer: &str) -> Result<Value, Failure> {
    let url = format!("{issuer}/.well-known/openid-configuration");
    let answer = client.get(&url, &[]).await.map_err(Failure::unusable)?;
    let metadata = super::read(&answer, &url)?;
    // RFC 8414 section 3.3.
    if metadata["issuer"].as_str() != Some(issuer) {
        return Err(Failure::unusable(format!(
            "{url} is the metadata of another issuer"
        )));
    }
    Ok(metadata)
}

/// Cookies and forms; nothing of a page is run.
struct Browser<'a> {
    client: &'a HttpClient,
    cookies: Vec<(String, String)>,
}

impl Browser<'_> {
    /// Goes on until the server sends the browser to the client's redirect; gives that URL.
    async fn walk(
        &mut self,
        start: String,
        username: &str,
        password: &Secret<String>,
    ) -> Result<String, Failure> {
        let mut url = start;
        let mut post: Option<String> = None;
        let mut logged_in = false;
        for _ in 0..MAX_STEPS {
            let answer = self.request(&url, post.take()).await?;
            if answer.status.is_redirection() {
                let location = answer
                    .header("location")
                    .ok_or_else(|| Failure::unusable("a redirect without a location"))?;
                if location.starts_with(CLI_REDIRECT_URI) {
                    return Ok(location.to_owned());
                }
                url = self.resolve(&url, location)?;
                continue;
            }
            let html = String::from_utf8_lossy(&answer.body);
            if answer.status == StatusCode::TOO_MANY_REQUESTS {
                return Err(Failure::no(
                    "slow_down",
                    "too many failed logins; wait, and try again",
                ));
            }
            if let Some(code) = page::error_code(&html) {
                return Err(Failure::no(
                    &code,
                    format!("the server refused the login: {code}"),
                ));
            }
            let form = Form::find(&html).ok_or_else(|| {
                Failure::unusable(format!(
                    "the server answered {} without a form",
                    answer.status
                ))
            })?;
            let mut fields: Vec<(&str, &str)> = form
                .hidden
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            if form.asks_for("otp") {
                return Err(Failure::no(
                    "interaction_required",
                    "the login needs a one-time code: use SIGNET_ADMIN_TOKEN",
                ));
            }
            if form.asks_for("password") {
                if logged_in {
                    return Err(Failure::no(
                        "access_denied",
                        "the user name or the password is not right",
                    ));
                }
                logged_in = true;
                fields.push(("username", username));
                fields.push(("password", password.expose()));
            }
            fields.push(("decision", "allow"));
            post = Some(crate::http_client::form(&fields));
            url = self.resolve(&url, &form.action)?;
        }
        Err(Failure::unusable("the login did not come to an end"))
    }

    async fn request(&mut self, url: &str, post: Option<String>) -> Result<Answer, Failure> {
        let cookies: Vec<String> = self
            .cookies
            .iter()
            .map(|(n, v)| format!("{n}={v}"))
            .collect();
        let cookies = cookies.join("; ");
        let origin = origin(url).to_owned();
        let mut headers = vec![("accept", "text/html")];
        if !cookies.is_empty() {
            headers.push(("cookie", &cookies));
        }
        let (method, body) = match post {
            Some(body) => {
                headers.push(("content-type", "application/x-www-form-urlencoded"));
                headers.push(("origin", &origin));
                (Method::POST, body)
            }
            None => (Method::GET, String::new()),
        };
        let answer = self
            .client
            .send(method, url, &headers, Bytes::from(body))
            .await
            .map_err(Failure::unusable)?;
        for value in answer.headers.get_all("set-cookie") {
            let Some((name, rest)) = value.to_str().ok().and_then(|v| v.split_once('=')) else {
                continue;
            };
            let content = rest.split(';').next().unwrap_or_default();
            self.cookies.retain(|(n, _)| n != name);
            if !content.is_empty() {
                self.cookies.push((name.to_owned(), content.to_owned()));
            }
        }
        Ok(answer)
    }

    /// Only the server itself is followed to: cookies and the password go nowhere else.
    fn resolve(&self, from: &str, to: &str) -> Result<String, Failure> {
        let origin = origin(from);
        let absolute = if to.contains("://") {
            to.to_owned()
        } else if to.starts_with('/') {
            format!("{origin}{to}")
        } else if to.is_empty() {
            from.to_owned()
        } else {
            let path = from.split(['?', '#']).next().unwrap_or(from);
            let cut = path
                .rfind('/')
                .filter(|at| *at >= origin.len())
                .unwrap_or(path.len());
            format!("{}/{to}", &path[..cut])
        };
        if absolute
            .strip_prefix(origin)
            .is_none_or(|rest| !rest.starts_with(['/', '?']))
        {
            return Err(Failure::unusable("the login leads to another server"));
        }
        Ok(absolute)
    }
}

/// Scheme and authority.
fn origin(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    &url[..end]
}

/// A query parameter, decoded.
fn parameter(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    let value = query
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(n, _)| *n == name))?
        .1;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_server_itself_is_followed_to() {
        let client = HttpClient::new(&[]).unwrap();
        let browser = Browser {
            client: &client,
            cookies: Vec::new(),
        };
        let from = "https://id.example:8443/t/authorize?x=1";
        let go = |to: &str| browser.resolve(from, to).ok();
        assert_eq!(
            go("/login").as_deref(),
            Some("https://id.example:8443/login")
        );
        assert_eq!(
            go("login?a=b").as_deref(),
            Some("https://id.example:8443/t/login?a=b")
        );
        assert_eq!(
            go("https://id.example:8443/z").as_deref(),
            Some("https://id.example:8443/z")
        );
        for bad in [
            "https://evil.example/",
            "https://id.example:8443.evil/",
            "https://id.example/",
            "http://id.example:8443/",
        ] {
            assert_eq!(go(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_answer_is_decoded() {
        let url =
            "http://127.0.0.1/callback?code=a%2Bb&iss=https%3A%2F%2Fid&error_description=so+what";
        assert_eq!(parameter(url, "code").as_deref(), Some("a+b"));
        assert_eq!(
            parameter(url, "error_description").as_deref(),
            Some("so what")
        );
        assert_eq!(parameter(url, "state"), None);
    }
}
