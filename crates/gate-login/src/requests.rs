//! The requests that a login makes of the issuer.

use crate::{
    attempt::Attempt,
    client::Form,
    login::Login,
    provider::{Failure, Metadata, Tokens, with_query},
};
use signet_crypto::hash::sha256;
use signet_encoding::{
    base64url,
    json::{Limits, Object, parse_object},
};
use signet_verify::fetch::Call;

impl Login {
    /// The URL that a browser is led to for this login.
    pub(crate) async fn authorization_url(
        &self,
        metadata: &Metadata,
        attempt: &Attempt,
        redirect_uri: &str,
        now: u64,
    ) -> Result<String, Failure> {
        let settings = &self.settings;
        let challenge = base64url::encode(&sha256(attempt.verifier.expose().as_bytes()));
        let scope = settings.scopes.join(" ");
        let acr = settings.acr.join(" ");
        let max_age = settings.max_age.map(|seconds| seconds.to_string());
        let mut request = vec![
            ("response_type", "code"),
            ("client_id", &settings.client_id),
            ("redirect_uri", redirect_uri),
            ("scope", &scope),
            ("state", &attempt.state),
            ("nonce", &attempt.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ];
        for resource in &settings.resources {
            request.push(("resource", resource));
        }
        if !acr.is_empty() {
            request.push(("acr_values", &acr));
        }
        if let Some(max_age) = &max_age {
            request.push(("max_age", max_age));
        }
        if metadata.takes_claims {
            // By its `sid` a session is ended with the issuer's.
            request.push(("claims", r#"{"id_token":{"sid":null}}"#));
        }
        let endpoint = &metadata.authorization_endpoint;
        let Some(pushed) = &metadata.pushed else {
            return Ok(with_query(endpoint, &Form::of(request).0));
        };
        let answer = self.post(pushed, request, now).await?;
        let answer = parse_object(&answer, &Limits::default());
        let answer = answer.map_err(|error| unreadable(pushed, error))?;
        let request_uri = answer.string("request_uri").ok().flatten();
        let request_uri = request_uri.ok_or_else(|| unreadable(pushed, "it has no request_uri"))?;
        let query = Form::of([
            ("client_id", settings.client_id.as_str()),
            ("request_uri", request_uri),
        ]);
        Ok(with_query(endpoint, &query.0))
    }

    /// Exchanges a code (RFC 6749 section 4.1.3).
    pub(crate) async fn exchange(
        &self,
        metadata: &Metadata,
        attempt: &Attempt,
        code: &str,
        redirect_uri: &str,
        now: u64,
    ) -> Result<Tokens, Failure> {
        let endpoint = &metadata.token_endpoint;
        let form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", attempt.verifier.expose()),
        ];
        let answer = self.post(endpoint, form, now).await?;
        let answer = parse_object(&answer, &Limits::default());
        let answer = answer.map_err(|error| unreadable(endpoint, error))?;
        let text = |name: &str| match answer.string(name) {
            Ok(Some(text)) => Ok(text.to_owned()),
            Ok(None) | Err(_) => Err(unreadable(endpoint, format!("it has no {name}"))),
        };
        let token_type = text("token_type")?;
        Ok(Tokens {
            id_token: text("id_token")?,
            access_token: text("access_token")?,
            is_bearer: token_type.eq_ignore_ascii_case("Bearer"),
            scope: answer.string("scope").ok().flatten().map(str::to_owned),
        })
    }

    /// What the userinfo endpoint says about whom the access token is for (OpenID Connect Core
    /// section 5.3).
    pub(crate) async fn userinfo(
        &self,
        endpoint: &str,
        access_token: &str,
    ) -> Result<Vec<u8>, Failure> {
        let value = signet_crypto::Secret::new(["Bearer ", access_token].concat());
        let value = http::HeaderValue::from_str(value.expose());
        let mut value = value.map_err(|_| unreadable(endpoint, "no access token"))?;
        value.set_sensitive(true);
        let call = Call {
            url: endpoint,
            accept: "application/json",
            authorization: Some(value),
            ..Call::default()
        };
        let reply = self.outbound.call(&call).await;
        let reply = reply.map_err(|error| unreadable(endpoint, error))?;
        match reply.status {
            200 => Ok(reply.body.to_vec()),
            status => Err(unreadable(endpoint, format!("the status is {status}"))),
        }
    }

    async fn post(
        &self,
        endpoint: &str,
        form: Vec<(&str, &str)>,
        now: u64,
    ) -> Result<bytes::Bytes, Failure> {
        let settings = &self.settings;
        let posted = settings
            .authentication
            .post(&settings.issuer, &settings.client_id, form, now);
        let posted = posted.ok_or_else(|| unreadable(endpoint, "no assertion could be signed"))?;
        let call = Call {
            url: endpoint,
            accept: "application/json",
            authorization: posted.authorization,
            form: Some(posted.form),
            ..Call::default()
        };
        let reply = self.outbound.call(&call).await;
        let reply = reply.map_err(|error| unreadable(endpoint, error))?;
        if matches!(reply.status, 200 | 201) {
            return Ok(reply.body);
        }
        let answer = parse_object(&reply.body, &Limits::default());
        match answer.as_ref().map(|object| code_in(object)) {
            Ok(Some((error, description))) if reply.status < 500 => {
                Err(Failure::Refused { error, description })
            }
            _ => Err(unreadable(
                endpoint,
                format!("the status is {}", reply.status),
            )),
        }
    }
}

fn code_in(answer: &Object<'_>) -> Option<(String, String)> {
    let error = answer.string("error").ok()??.to_owned();
    let description = answer.string("error_description").ok().flatten();
    Some((error, description.unwrap_or("").to_owned()))
}

fn unreadable(endpoint: &str, why: impl std::fmt::Display) -> Failure {
    Failure::Unavailable(format!("{endpoint}: {why}"))
}
