//! How a person or a script gets an access token for the admin API. Nothing reads a page: a person
//! meets the server's pages in his own browser, whatever they look like and however many factors
//! they ask for.

use std::{
    io::IsTerminal,
    process::{Command, Stdio},
    time::Duration,
};

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use signet_crypto::{Secret, hash::sha256, random};
use signet_encoding::base64url;
use signet_oauth::{
    command_line::CLIENT_ID,
    scope::{ADMIN, ADMIN_READ},
};
use tokio::time::{Instant, sleep, timeout_at};

use super::redirect::Redirect;
use crate::http_client::{Answer, HttpClient, form};
use signet_http_client::text::basic;
use signet_terminal::output::{Failure, note};

/// What is asked for. `openid` is what makes it a login.
const SCOPE: &str = "openid signet:admin";
/// How long a person may take in the browser.
const PATIENCE: Duration = Duration::from_secs(300);
/// RFC 8628 section 3.2: how often a device asks where the server does not say.
const POLL: u64 = 5;

/// A way to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Way {
    /// This machine's browser, which comes back to a port of the loopback address (RFC 8252).
    Browser,
    /// A code, typed in a browser anywhere (RFC 8628).
    Device,
    /// A password, sent to the server directly; for accounts of which no second factor is asked.
    Password,
}

impl Way {
    /// The usual one of whoever runs the command; none where nobody is there to log in.
    pub(crate) fn usual() -> Option<Way> {
        if std::env::var_os("SIGNET_PASSWORD").is_some() {
            return Some(Way::Password);
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        Some(if opener().is_some() {
            Way::Browser
        } else {
            Way::Device
        })
    }
}

/// A client, and what it asks for.
pub(crate) struct ClientLogin {
    client_id: String,
    secret: Secret<String>,
    scope: &'static str,
}

impl ClientLogin {
    /// `scope`: what its record has, if that is known.
    pub(crate) fn new(client_id: String, secret: String, scope: Option<&str>) -> ClientLogin {
        let has = |name| scope.is_some_and(|scope| scope.split(' ').any(|s| s == name));
        ClientLogin {
            client_id,
            secret: Secret::new(secret),
            scope: match has(ADMIN_READ) && !has(ADMIN) {
                true => ADMIN_READ,
                false => ADMIN,
            },
        }
    }
}

/// A server to get tokens of.
pub(crate) struct Login<'a> {
    pub client: &'a HttpClient,
    pub issuer: &'a str,
    /// Where the node is that is spoken to; the issuer, where it has no address of its own.
    pub base: &'a str,
}

impl Login<'_> {
    /// A client's own token (RFC 6749 section 4.4).
    pub(crate) async fn as_client(&self, client: &ClientLogin) -> Result<Secret<String>, Failure> {
        let metadata = self.metadata().await?;
        let body = [
            ("grant_type", "client_credentials"),
            ("scope", client.scope),
        ];
        let basic = basic(&client.client_id, client.secret.expose());
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", basic.as_str()),
        ];
        let url = self.endpoint(&metadata, "token_endpoint")?;
        let answer = self.send(&url, &headers, form(&body)).await?;
        Ok(Issued::of(&super::read(&answer, &url)?, &client.client_id)?.access)
    }

    /// A password, and the code of the account's app where it has one, for a token, in one request.
    pub(crate) async fn by_password(
        &self,
        username: &str,
        password: &Secret<String>,
        totp: Option<&Secret<String>>,
    ) -> Result<Secret<String>, Failure> {
        let url = format!("{}/password-login", self.base);
        let mut body = json!({ "username": username, "password": password.expose() });
        if let Some(totp) = totp {
            body["totp"] = json!(totp.expose());
        }
        let headers = [("content-type", "application/json")];
        let answer = self.send(&url, &headers, body.to_string()).await?;
        Ok(Issued::of(&super::read(&answer, &url)?, username)?.access)
    }

    /// Code and PKCE in the person's browser. `class`: of authentication, which is then shown
    /// again.
    pub(crate) async fn by_browser(
        &self,
        username: Option<&str>,
        class: Option<&str>,
    ) -> Result<Issued, Failure> {
        let metadata = self.metadata().await?;
        let redirect = Redirect::listen().await?;
        let verifier = base64url::encode(&random::bytes::<32>());
        let state = base64url::encode(&random::bytes::<16>());
        let challenge = base64url::encode(&sha256(verifier.as_bytes()));
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", CLIENT_ID),
            ("redirect_uri", redirect.uri()),
            ("scope", SCOPE),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        query.extend(username.map(|name| ("login_hint", name)));
        // What was shown before may be too old by now.
        let again = class.map(|class| [("acr_values", class), ("prompt", "login")]);
        query.extend(again.into_iter().flatten());
        let start = self.endpoint(&metadata, "authorization_endpoint")?;
        let start = format!("{start}?{}", form(&query));
        note(&format!("Log in with your browser:\n  {start}"));
        if let Some(opener) = opener()
            && !open(&opener, &start)
        {
            note(&format!(
                "{opener} does not start: open the address yourself, or log in with a code in any browser"
            ));
        }
        let until = Instant::now() + PATIENCE;
        let back = timeout_at(until, redirect.answer(&state, self.issuer))
            .await
            .map_err(|_| Failure::no("access_denied", "nobody logged in within five minutes"))??;
        let body = form(&[
            ("grant_type", "authorization_code"),
            ("client_id", CLIENT_ID),
            ("redirect_uri", redirect.uri()),
            ("code", back.expose()),
            ("code_verifier", &verifier),
        ]);
        let url = self.endpoint(&metadata, "token_endpoint")?;
        let answer = self.send(&url, &FORM, body).await?;
        Issued::of(
            &super::read(&answer, &url)?,
            username.unwrap_or("the account"),
        )
    }

    /// A code that the person types into a browser anywhere.
    pub(crate) async fn by_device(&self) -> Result<Issued, Failure> {
        let metadata = self.metadata().await?;
        let url = self.endpoint(&metadata, "device_authorization_endpoint")?;
        let body = form(&[("client_id", CLIENT_ID), ("scope", SCOPE)]);
        let answer = self.send(&url, &FORM, body).await?;
        let begun = super::read(&answer, &url)?;
        let member = |name: &str| {
            begun[name]
                .as_str()
                .ok_or_else(|| Failure::unusable(format!("{url}: the answer has no {name}")))
        };
        note(&format!(
            "Log in with any browser:\n  {}\nand type the code {}",
            member("verification_uri")?,
            member("user_code")?
        ));
        let device_code = member("device_code")?;
        let url = self.endpoint(&metadata, "token_endpoint")?;
        let body = form(&[
            ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ("client_id", CLIENT_ID),
            ("device_code", device_code),
        ]);
        let mut interval = begun["interval"].as_u64().unwrap_or(POLL).clamp(1, 60);
        loop {
            sleep(Duration::from_secs(interval)).await;
            let answer = self.send(&url, &FORM, body.clone()).await?;
            match super::read(&answer, &url) {
                // RFC 8628 section 3.5. The server's `expired_token` ends the wait.
                Err(failure) if failure.error() == "authorization_pending" => {}
                Err(failure) if failure.error() == "slow_down" => interval += POLL,
                done => return Issued::of(&done?, "the account"),
            }
        }
    }

    /// The next tokens of a login (RFC 6749 section 6). The refresh token is consumed.
    pub(crate) async fn refresh(&self, token: &Secret<String>) -> Result<Issued, Failure> {
        let metadata = self.metadata().await?;
        let url = self.endpoint(&metadata, "token_endpoint")?;
        let body = form(&[
            ("grant_type", "refresh_token"),
            ("client_id", CLIENT_ID),
            ("refresh_token", token.expose()),
        ]);
        let answer = self.send(&url, &FORM, body).await?;
        Issued::of(&super::read(&answer, &url)?, "the account")
    }

    /// Ends a login: its grant with a refresh token, else the access token alone (RFC 7009 section
    /// 2.1).
    pub(crate) async fn revoke(&self, token: &Secret<String>) -> Result<(), Failure> {
        let metadata = self.metadata().await?;
        let url = self.endpoint(&metadata, "revocation_endpoint")?;
        let body = form(&[("client_id", CLIENT_ID), ("token", token.expose())]);
        let answer = self.send(&url, &FORM, body).await?;
        super::read(&answer, &url).map(|_| ())
    }

    async fn send(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<Answer, Failure> {
        self.client
            .send(Method::POST, url, headers, Bytes::from(body))
            .await
            .map_err(Failure::unusable)
    }

    async fn metadata(&self) -> Result<Value, Failure> {
        let url = format!("{}/.well-known/openid-configuration", self.base);
        let answer = self
            .client
            .get(&url, &[])
            .await
            .map_err(Failure::unusable)?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(Failure::unusable(format!(
                "{url} is not there: --server is the issuer's URL"
            )));
        }
        let metadata = super::read(&answer, &url)?;
        // RFC 8414 section 3.3.
        match metadata["issuer"].as_str() {
            Some(issuer) if issuer == self.issuer => Ok(metadata),
            Some(issuer) => Err(Failure::unusable(format!(
                "the issuer there is {issuer}: --server {issuer}"
            ))),
            None => Err(Failure::unusable(format!("{url} names no issuer"))),
        }
    }

    /// An endpoint of the metadata, at the node that is spoken to.
    fn endpoint(&self, metadata: &Value, name: &str) -> Result<String, Failure> {
        let url = metadata[name]
            .as_str()
            .ok_or_else(|| Failure::unusable(format!("the server's metadata has no {name}")))?;
        Ok(match url.strip_prefix(self.issuer) {
            Some(path) => format!("{}{path}", self.base),
            None => url.to_owned(),
        })
    }
}

const FORM: [(&str, &str); 1] = [("content-type", "application/x-www-form-urlencoded")];

/// What a token response gave somebody who may administer.
pub(crate) struct Issued {
    pub(crate) access: Secret<String>,
    /// How long the access token is valid, in seconds.
    pub(crate) lifetime: u64,
    /// None where the client's record lets it have none.
    pub(crate) refresh: Option<Secret<String>>,
    /// Whom the ID token names. It came from the token endpoint over TLS, which stands for its
    /// signature (OpenID Connect Core section 3.1.3.7).
    pub(crate) sub: Option<String>,
}

impl Issued {
    /// Those of a token response. Scope is left out where it is what was asked for (RFC 6749
    /// section 5.1).
    fn of(tokens: &Value, who: &str) -> Result<Issued, Failure> {
        let scope = tokens["scope"].as_str().unwrap_or(ADMIN);
        if !scope.split(' ').any(|s| [ADMIN, ADMIN_READ].contains(&s)) {
            return Err(Failure::no(
                "insufficient_scope",
                format!("{who} is not an administrator"),
            ));
        }
        let secret = |name: &str| {
            tokens[name]
                .as_str()
                .map(|text| Secret::new(text.to_owned()))
        };
        let access = secret("access_token")
            .ok_or_else(|| Failure::unusable("the server gave no access token"))?;
        let claims = tokens["id_token"].as_str().and_then(claims);
        Ok(Issued {
            access,
            lifetime: tokens["expires_in"].as_u64().unwrap_or_default(),
            refresh: secret("refresh_token"),
            sub: claims.and_then(|claims| claims["sub"].as_str().map(str::to_owned)),
        })
    }
}

/// The claims of a token that came from its issuer.
pub(crate) fn claims(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    serde_json::from_slice(&base64url::decode(payload.as_bytes()).ok()?).ok()
}

/// The program that opens a page on this machine, where there is a screen.
pub(crate) fn opener() -> Option<String> {
    if let Some(browser) = std::env::var("BROWSER").ok().filter(|b| !b.is_empty()) {
        return Some(browser);
    }
    if cfg!(target_os = "macos") {
        return Some("open".into());
    }
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty()));
    screen.then(|| "xdg-open".into())
}

/// Whether the program started. The address is on the terminal too: a browser that does not start
/// is no failure.
fn open(program: &str, url: &str) -> bool {
    browser(program, url).spawn().is_ok()
}

/// A browser outlives this command, and so do the programs that it starts: none of them gets what
/// Signet's variables hold, which are passwords and tokens.
fn browser(program: &str, url: &str) -> Command {
    let mut command = Command::new(program);
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"SIGNET_") {
            command.env_remove(name);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_without_the_scope_is_no_administrators() {
        let token = json!({ "access_token": "t", "scope": "openid" });
        let refused = Issued::of(&token, "alice").err().unwrap();
        assert_eq!(refused.error(), "insufficient_scope");
        assert!(refused.description().contains("alice"));
        let token = json!({ "access_token": "t", "scope": "openid signet:admin" });
        let issued = Issued::of(&token, "root").unwrap();
        assert_eq!(issued.access.expose(), "t");
        assert!(issued.refresh.is_none() && issued.sub.is_none());
    }

    #[test]
    fn a_browser_gets_no_variable_that_may_hold_a_secret() {
        let command = browser("browser", "https://id.example");
        let kept = |name: &std::ffi::OsStr| {
            let change = command.get_envs().find(|(changed, _)| *changed == name);
            change.is_none_or(|(_, value)| value.is_some())
        };
        for (name, _) in std::env::vars_os() {
            let is_ours = name.to_string_lossy().starts_with("SIGNET_");
            assert_eq!(kept(&name), !is_ours, "{name:?}");
        }
    }

    #[test]
    fn a_client_asks_for_the_most_that_its_record_has() {
        for (scope, asks) in [
            (None, ADMIN),
            (Some("signet:admin"), ADMIN),
            (Some("signet:admin.read"), ADMIN_READ),
            (Some("signet:admin.read signet:admin"), ADMIN),
            (Some("api:read signet:admin.read"), ADMIN_READ),
        ] {
            let client = ClientLogin::new("c".into(), "s".into(), scope);
            assert_eq!(client.scope, asks, "{scope:?}");
        }
    }
}
