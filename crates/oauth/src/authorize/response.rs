//! Authorization responses: success and error, by redirect or by form post, always with `iss` (RFC
//! 9207).
use super::request::ReturnTo;
use super::response_mode::Response;
use crate::error::OAuthError;

/// The answer with a code (RFC 6749 section 4.1.2), and with what the client may ask about the
/// browser's session by (OpenID Connect Session Management section 2).
pub fn success(to: &ReturnTo, code: &str, session_state: Option<String>, issuer: &str) -> Response {
    let mut fields = vec![("code", code.to_owned())];
    fields.extend(session_state.map(|state| ("session_state", state)));
    respond(to, fields, issuer)
}

/// The answer with an error (RFC 6749 section 4.1.2.1). Only the public half goes out.
pub fn error(to: &ReturnTo, error: &OAuthError, issuer: &str) -> Response {
    let mut fields = vec![("error", error.code.as_str().to_owned())];
    if !error.description.is_empty() {
        fields.push(("error_description", error.description.to_owned()));
    }
    respond(to, fields, issuer)
}

fn respond(to: &ReturnTo, mut fields: Vec<(&'static str, String)>, issuer: &str) -> Response {
    if let Some(state) = &to.state {
        fields.push(("state", state.clone()));
    }
    fields.push(("iss", issuer.to_owned()));
    to.response_mode.write(&to.redirect_uri, fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorize::response_mode::with_query;
    use crate::{authorize::ResponseMode, error::ErrorCode};

    fn to(redirect_uri: &str, response_mode: ResponseMode) -> ReturnTo {
        ReturnTo {
            redirect_uri: redirect_uri.into(),
            response_mode,
            state: Some("a b&c=d\"'".into()),
        }
    }

    #[test]
    fn a_success_carries_code_state_and_iss() {
        assert_eq!(
            success(&to("https://rp.example/cb", ResponseMode::QUERY), "c+1", None, "https://id.example"),
            Response::Redirect(
                "https://rp.example/cb?code=c%2B1&state=a%20b%26c%3Dd%22%27&iss=https%3A%2F%2Fid.example".into()
            )
        );
    }

    #[test]
    fn every_response_mode_carries_the_session_state() {
        let state = || Some("hash.salt".to_owned());
        let Response::Redirect(url) = success(
            &to("https://rp.example/cb", ResponseMode::QUERY),
            "c",
            state(),
            "i",
        ) else {
            panic!("query mode redirects");
        };
        assert!(url.contains("&session_state=hash.salt&"), "{url}");
        let Response::FormPost { fields, .. } = success(
            &to("https://rp.example/cb", ResponseMode::FORM_POST),
            "c",
            state(),
            "i",
        ) else {
            panic!("form_post answers with a form");
        };
        assert!(fields.contains(&("session_state", "hash.salt".to_owned())));
    }

    #[test]
    fn a_registered_query_is_kept() {
        let Response::Redirect(url) = success(
            &to("https://rp.example/cb?x=1", ResponseMode::QUERY),
            "c",
            None,
            "i",
        ) else {
            panic!("query mode redirects");
        };
        assert!(url.starts_with("https://rp.example/cb?x=1&code=c&"));
        assert_eq!(with_query("com.app:/cb?", &[("a", "b")]), "com.app:/cb?a=b");
    }

    #[test]
    fn an_error_goes_back_in_the_requested_mode_and_never_with_its_hint() {
        let error = error(
            &to("https://rp.example/cb", ResponseMode::FORM_POST),
            &OAuthError::new(ErrorCode::LoginRequired, "nobody is logged in").with_hint("private"),
            "https://id.example",
        );
        let Response::FormPost { action, fields } = error else {
            panic!("form_post answers with a form");
        };
        assert_eq!(action, "https://rp.example/cb");
        assert_eq!(
            fields.iter().map(|(n, _)| *n).collect::<Vec<_>>(),
            ["error", "error_description", "state", "iss"]
        );
        assert!(fields.iter().all(|(_, v)| !v.contains("private")));
    }
}
