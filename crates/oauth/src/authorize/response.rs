//! Authorization responses: success and error, by redirect or by form post, always with `iss` (RFC
//! 9207).
use super::response_mode::{Issuing, Outgoing, Response, ReturnTo};
use crate::error::OAuthError;

/// The answer with a code (RFC 6749 section 4.1.2), and with what the client may ask about the
/// browser's session by (OpenID Connect Session Management section 2).
///
/// # Errors
/// The mode signs, and cannot.
pub fn success(
    to: &ReturnTo,
    code: &str,
    session_state: Option<String>,
    issuing: &Issuing<'_>,
) -> Result<Response, OAuthError> {
    let mut fields = vec![("code", code.to_owned())];
    fields.extend(session_state.map(|state| ("session_state", state)));
    respond(to, fields, issuing)
}

/// The answer with an error (RFC 6749 section 4.1.2.1). Only the public half goes out.
///
/// # Errors
/// The mode signs, and cannot.
pub fn error(
    to: &ReturnTo,
    error: &OAuthError,
    issuing: &Issuing<'_>,
) -> Result<Response, OAuthError> {
    let mut fields = vec![("error", error.code.as_str().to_owned())];
    if !error.description.is_empty() {
        fields.push(("error_description", error.description.to_owned()));
    }
    respond(to, fields, issuing)
}

fn respond(
    to: &ReturnTo,
    mut fields: Vec<(&'static str, String)>,
    issuing: &Issuing<'_>,
) -> Result<Response, OAuthError> {
    if let Some(state) = &to.state {
        fields.push(("state", state.clone()));
    }
    fields.push(("iss", issuing.issuer.to_owned()));
    to.response_mode.write(Outgoing {
        to,
        fields,
        issuing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorize::response_mode::{Mode, with_query};
    use crate::testing::{NOW, signer};
    use crate::{authorize::ResponseMode, error::ErrorCode, request::IssuerSigners};
    use signet_crypto::Algorithm;
    use signet_jose::jwt::{JwtSigner, Typ};

    /// An issuer with one key, or with none.
    struct Keys(Option<JwtSigner>);

    impl IssuerSigners for Keys {
        fn jwt_signer(&self, _: Algorithm) -> Option<&JwtSigner> {
            self.0.as_ref()
        }
        fn compact_signer(&self) -> Option<&signet_compact::SigningKey> {
            None
        }
    }

    fn by<'a>(issuer: &'a str, keys: &'a Keys) -> Issuing<'a> {
        Issuing {
            issuer,
            signers: keys,
            client: None,
            now: NOW,
        }
    }

    /// `success` by an issuer without keys: the modes of the table need none.
    fn plain(to: &ReturnTo, code: &str, state: Option<String>, issuer: &str) -> Response {
        success(to, code, state, &by(issuer, &Keys(None))).unwrap()
    }

    fn to(redirect_uri: &str, response_mode: ResponseMode) -> ReturnTo {
        ReturnTo {
            client_id: "web".into(),
            redirect_uri: redirect_uri.into(),
            response_mode,
            state: Some("a b&c=d\"'".into()),
        }
    }

    #[test]
    fn a_success_carries_code_state_and_iss() {
        assert_eq!(
            plain(&to("https://rp.example/cb", ResponseMode::QUERY), "c+1", None, "https://id.example"),
            Response::Redirect(
                "https://rp.example/cb?code=c%2B1&state=a%20b%26c%3Dd%22%27&iss=https%3A%2F%2Fid.example".into()
            )
        );
    }

    #[test]
    fn every_response_mode_carries_the_session_state() {
        let state = || Some("hash.salt".to_owned());
        let Response::Redirect(url) = plain(
            &to("https://rp.example/cb", ResponseMode::QUERY),
            "c",
            state(),
            "i",
        ) else {
            panic!("query mode redirects");
        };
        assert!(url.contains("&session_state=hash.salt&"), "{url}");
        let Response::FormPost { fields, .. } = plain(
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
        let Response::Redirect(url) = plain(
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
            &by("https://id.example", &Keys(None)),
        )
        .unwrap();
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

    /// A mode that signs, as JARM's do: an ES256 JWT for the client, with the answer's members.
    struct Signed;

    impl Mode for Signed {
        fn name(&self) -> &'static str {
            "signed"
        }
        fn admits(&self, _: &str) -> Result<(), &'static str> {
            Ok(())
        }
        fn write(&self, answer: Outgoing<'_>) -> Result<Response, OAuthError> {
            let by = answer.issuing;
            let unsigned = || OAuthError::new(ErrorCode::ServerError, "no key to answer with");
            let signer = by
                .signers
                .jwt_signer(Algorithm::Es256)
                .ok_or_else(unsigned)?;
            let jwt = signer.sign(Typ::Jwt, |w| {
                w.member("aud").string(&answer.to.client_id);
                w.member("exp").number(by.now + 600);
                for (name, value) in &answer.fields {
                    w.member(name).string(value);
                }
            });
            let jwt = jwt.map_err(|_| unsigned())?;
            let url = with_query(&answer.to.redirect_uri, &[("response", jwt)]);
            Ok(Response::Redirect(url))
        }
    }

    #[test]
    fn a_mode_may_sign_for_its_client_and_sends_nothing_unsigned() {
        let to = to("https://rp.example/cb", ResponseMode::of_test(&Signed));
        let keys = Keys(Some(signer()));
        let Response::Redirect(url) = success(&to, "c", None, &by("i", &keys)).unwrap() else {
            panic!("the mode redirects");
        };
        let jwt = url.strip_prefix("https://rp.example/cb?response=").unwrap();
        let payload = jwt.split('.').nth(1).unwrap();
        let payload = signet_encoding::base64url::decode(payload.as_bytes()).unwrap();
        let payload = String::from_utf8(payload).unwrap();
        for member in [r#""aud":"web""#, r#""code":"c""#, r#""iss":"i""#] {
            assert!(payload.contains(member), "{payload}");
        }
        let refused = success(&to, "c", None, &by("i", &Keys(None)));
        assert_eq!(refused.unwrap_err().code, ErrorCode::ServerError);
    }
}
