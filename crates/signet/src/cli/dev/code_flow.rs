//! The code flow of a development server, walked through as a browser without JavaScript would: for
//! `signet dev token` only.
//!
//! It fills in the forms of login and consent by the names that they promise to keep: `username`,
//! `password`, `decision`, and whatever is hidden. An account with a second factor stops it; real
//! administration never comes this way.

use bytes::Bytes;
use http::{Method, StatusCode};
use signet_crypto::{Secret, hash::sha256, random};
use signet_encoding::base64url;

use signet_admin_client::http_client::{Answer, HttpClient, form};
use signet_http_client::text::query_parameter;
use signet_terminal::output::Failure;

/// Pages and redirects of one login: more than there are.
const MAX_STEPS: usize = 12;

/// One request of an application.
pub struct Flow<'a> {
    pub client: &'a HttpClient,
    pub server: &'a str,
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    pub scope: &'a str,
    pub resources: &'a [(&'a str, &'a str)],
}

impl Flow<'_> {
    /// The code, and its verifier (RFC 7636).
    pub async fn code(
        &self,
        username: &str,
        password: &Secret<String>,
    ) -> Result<(Secret<String>, Secret<String>), Failure> {
        let verifier = base64url::encode(&random::bytes::<32>());
        let state = base64url::encode(&random::bytes::<16>());
        let challenge = base64url::encode(&sha256(verifier.as_bytes()));
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", self.client_id),
            ("redirect_uri", self.redirect_uri),
            ("scope", self.scope),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        query.extend(self.resources);
        let start = format!("{}/authorize?{}", self.server, form(&query));
        let back = self.walk(start, username, password).await?;
        let query = back.split_once('?').map_or("", |(_, query)| query);
        if let Some(error) = query_parameter(query, "error") {
            let words = query_parameter(query, "error_description");
            let words = words.unwrap_or_else(|| error.clone());
            return Err(Failure::no(
                &error,
                format!("the request was refused: {words}"),
            ));
        }
        match query_parameter(query, "code") {
            Some(code) if query_parameter(query, "state").as_ref() == Some(&state) => {
                Ok((Secret::new(code), Secret::new(verifier)))
            }
            _ => Err(Failure::unusable("the answer is not for this request")),
        }
    }

    /// Goes on until the server sends the browser to the redirect; that URL.
    async fn walk(
        &self,
        mut url: String,
        username: &str,
        password: &Secret<String>,
    ) -> Result<String, Failure> {
        let mut cookies: Vec<(String, String)> = Vec::new();
        let mut post: Option<String> = None;
        let mut tried = false;
        for _ in 0..MAX_STEPS {
            let answer = self.request(&url, post.take(), &mut cookies).await?;
            if answer.status.is_redirection() {
                let to = answer.header("location").unwrap_or_default();
                if to.starts_with(self.redirect_uri) {
                    return Ok(to.to_owned());
                }
                url = self.own(to)?;
                continue;
            }
            if answer.status == StatusCode::TOO_MANY_REQUESTS {
                return Err(Failure::no(
                    "slow_down",
                    "too many failed logins; wait a while",
                ));
            }
            let html = String::from_utf8_lossy(&answer.body);
            let page = Form::first(&html).ok_or_else(|| {
                let status = answer.status;
                Failure::no(
                    "access_denied",
                    format!("the server answered {status} without a form"),
                )
            })?;
            let mut fields = page.hidden;
            if page.asks.iter().any(|name| name == "password") {
                if tried {
                    let text = format!("the password of {username} is not right");
                    return Err(Failure::no("access_denied", text));
                }
                tried = true;
                fields.push(("username".into(), username.into()));
                fields.push(("password".into(), password.expose().clone()));
            } else if !page.asks.is_empty() {
                return Err(Failure::no(
                    "interaction_required",
                    format!("{username} needs more than a password to log in"),
                ));
            }
            fields.push(("decision".into(), "allow".into()));
            let pairs: Vec<_> = fields
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            post = Some(form(&pairs));
            url = self.own(&page.action)?;
        }
        Err(Failure::unusable("the login led nowhere"))
    }

    /// The password goes to the server and nowhere else. Its pages' forms are relative to it.
    fn own(&self, to: &str) -> Result<String, Failure> {
        let absolute = match to.contains("://") {
            true => to.to_owned(),
            false => format!("{}/{}", self.server, to.trim_start_matches('/')),
        };
        match absolute.strip_prefix(self.server) {
            Some(rest) if rest.starts_with(['/', '?']) => Ok(absolute),
            _ => Err(Failure::unusable("the login leads to another server")),
        }
    }

    async fn request(
        &self,
        url: &str,
        post: Option<String>,
        cookies: &mut Vec<(String, String)>,
    ) -> Result<Answer, Failure> {
        let pairs: Vec<String> = cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
        let pairs = pairs.join("; ");
        let mut headers = vec![("accept", "text/html")];
        if !pairs.is_empty() {
            headers.push(("cookie", &pairs));
        }
        let method = match post {
            Some(_) => {
                headers.push(("content-type", "application/x-www-form-urlencoded"));
                headers.push(("origin", self.server));
                Method::POST
            }
            None => Method::GET,
        };
        let body = Bytes::from(post.unwrap_or_default());
        let answer = self
            .client
            .send(method, url, &headers, body)
            .await
            .map_err(|e| Failure::unusable(format!("{e} (is the development server running?)")))?;
        for value in answer.headers.get_all("set-cookie") {
            let pair = value.to_str().ok().and_then(|v| v.split(';').next());
            if let Some((name, content)) = pair.and_then(|pair| pair.split_once('=')) {
                cookies.retain(|(n, _)| n != name);
                if !content.is_empty() {
                    cookies.push((name.to_owned(), content.to_owned()));
                }
            }
        }
        Ok(answer)
    }
}

/// The first form of a page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Form {
    action: String,
    hidden: Vec<(String, String)>,
    /// Names of the fields that a person fills in.
    asks: Vec<String>,
}

impl Form {
    fn first(html: &str) -> Option<Form> {
        let body = html[html.find("<form")?..].split("</form>").next()?;
        // Attribute values of the server's pages have `<` and `>` escaped.
        let mut tags = body.split('<').filter_map(|t| t.split('>').next());
        let mut found = Form {
            action: attribute(tags.find(|t| t.starts_with("form"))?, "action").unwrap_or_default(),
            ..Form::default()
        };
        for tag in tags.filter(|t| t.starts_with("input")) {
            let name = attribute(tag, "name").unwrap_or_default();
            match attribute(tag, "type").as_deref() {
                Some("hidden") => {
                    let value = attribute(tag, "value").unwrap_or_default();
                    found.hidden.push((name, value));
                }
                // Nobody has to tick it.
                Some("checkbox") => {}
                _ => found.asks.push(name),
            }
        }
        Some(found)
    }
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = tag[start..].split('"').next()?;
    Some(
        value
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_by_its_names() {
        let html = r#"<form method="post" action="interaction"><input type="hidden" name="interaction" value="x&quot;y">
            <input name="username" type="text"><input name="remember" type="checkbox"></form><form action="b"></form>"#;
        let form = Form::first(html).unwrap();
        assert_eq!(form.action, "interaction");
        assert_eq!(form.hidden, [("interaction".to_owned(), "x\"y".to_owned())]);
        assert_eq!(form.asks, ["username"]);
        assert_eq!(Form::first("<p>no form</p>"), None);
    }

    #[test]
    fn the_password_goes_to_the_server_only() {
        let client = HttpClient::new(&[]).unwrap();
        let flow = Flow {
            client: &client,
            server: "https://localhost:8443",
            client_id: "web",
            redirect_uri: "http://127.0.0.1/callback",
            scope: "openid",
            resources: &[],
        };
        let go = |to: &str| flow.own(to).ok();
        let own = go("interaction");
        assert_eq!(own.as_deref(), Some("https://localhost:8443/interaction"));
        assert!(go("https://localhost:8443/authorize?x").is_some());
        for bad in [
            "https://evil.example/",
            "https://localhost:8443.evil/",
            "http://localhost:8443/",
        ] {
            assert_eq!(go(bad), None, "{bad}");
        }
    }
}
