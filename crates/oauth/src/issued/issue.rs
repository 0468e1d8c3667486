//! From a decision to bytes: the payloads of access and ID tokens and the token response, written
//! straight into a buffer.
//!
//! The caller signs between these steps: access token first, then the ID token with its `at_hash`,
//! then the response.
pub use crate::issued::format::write_access_token;

use crate::issued::claims::ClaimsRequest;
use crate::issued::format::token_type;
use crate::issued::session::UserClaims;
use crate::people::mapped_claims::Mapped;
use crate::people::userinfo;
use crate::token::decision::{AccessToken, IdToken, Issue};
use signet_encoding::json::Writer;
use signet_jose::jwt::half_hash;

/// Appends the claims of an ID token (OpenID Connect Core section 2).
///
/// `signed_access_token`: for `at_hash`. `user`: for the claims that were asked for singly; none
/// are written without it, and none of the mapped ones.
pub fn write_id_token(
    id_token: &IdToken,
    access_token: &AccessToken,
    signed_access_token: &str,
    user: Option<(&UserClaims, Mapped)>,
    issuer: &str,
    now: u64,
    out: &mut Vec<u8>,
) {
    let claims = id_token
        .claims
        .as_deref()
        .and_then(|text| ClaimsRequest::parse(text).ok());
    Writer::new(out).object(|w| {
        w.member("iss").string(issuer);
        w.member("sub").string(&access_token.sub);
        w.member("aud").string(&access_token.client_id);
        w.member("exp").number(now + id_token.lifetime);
        w.member("iat").number(now);
        if let Some(auth_time) = access_token.auth_time {
            w.member("auth_time").number(auth_time);
        }
        if let Some(nonce) = &id_token.nonce {
            w.member("nonce").string(nonce);
        }
        // What was done, never what was asked for (known fault A6).
        if let Some(acr) = &access_token.acr {
            w.member("acr").string(acr);
        }
        if !access_token.amr.is_empty() {
            w.member("amr").strings(&access_token.amr);
        }
        w.member("at_hash")
            .string(&half_hash(id_token.algorithm, signed_access_token));
        if let Some(sid) = &id_token.sid {
            w.member("sid").string(sid);
        }
        if let Some((user, mut mapped)) = user {
            userinfo::write_id_token_claims(w, user, claims.as_ref(), &mut mapped);
        }
    });
}

/// Appends the token response (RFC 6749 section 5.1, RFC 8693 section 2.2.1, OpenID Connect Core
/// section 3.1.3.3).
pub fn write_token_response(
    issue: &Issue,
    access_token: &str,
    id_token: Option<&str>,
    refresh_token: Option<&str>,
    out: &mut Vec<u8>,
) {
    let token = &issue.access_token;
    Writer::new(out).object(|w| {
        w.member("access_token").string(access_token);
        w.member("token_type")
            .string(token_type(token.confirmation.as_ref()));
        w.member("expires_in").number(token.lifetime);
        if !token.scope.is_empty() {
            w.member("scope").string(&token.scope.to_string());
        }
        if let Some(id_token) = id_token {
            w.member("id_token").string(id_token);
        }
        if let Some(refresh_token) = refresh_token {
            w.member("refresh_token").string(refresh_token);
        }
        if let Some(kind) = issue.issued_token_type {
            w.member("issued_token_type").string(kind);
        }
        // RFC 9396 section 7: what was granted, as the token has it.
        if let Some(chain) = &token.chain {
            w.member("authorization_details")
                .raw(chain.authorization_details.as_bytes());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::GrantId;
    use crate::issued::format::{AccessTokenFormat, Stamp};
    use crate::issued::sealed::Confirmation;
    use crate::issued::token_facts::VerifiedAccessToken;
    use crate::testing;
    use crate::token::decision::ChainClaims;
    use signet_crypto::Algorithm;

    fn access_token() -> AccessToken {
        AccessToken {
            client_id: "client".into(),
            sub: "user-1".into(),
            audience: vec!["https://api.example".into()],
            scope: testing::scope("openid api:read"),
            lifetime: 600,
            format: AccessTokenFormat::Jwt,
            algorithm: Algorithm::Es256,
            grant_id: Some(GrantId::new([2; 16])),
            sid: Some("sid-1".into()),
            auth_time: Some(testing::NOW - 5),
            acr: Some("a".into()),
            amr: vec!["pwd".into(), "otp".into()],
            confirmation: Some(Confirmation::Jkt("thumbprint".into())),
            act: Some(r#"{"sub":"actor"}"#.into()),
            subject_jtis: vec![crate::id::Jti::new([9; 16])],
            claims: Some(r#"{"userinfo":{"name":null}}"#.into()),
            chain: Some(Box::new(ChainClaims {
                grants: vec![[3; 32], [4; 32]],
                authorization_details: r#"[{"type":"t"}]"#.into(),
            })),
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let token = access_token();
        let mut out = Vec::new();
        let stamp = Stamp {
            issuer: "https://as.example",
            id: Stamp::id(testing::NOW * 1000 + 7, [9; 10]),
            now: testing::NOW,
            mapped: &Mapped::default(),
        };
        write_access_token(&token, &stamp, &mut out);
        let facts = VerifiedAccessToken::parse(&out).unwrap();
        assert_eq!(facts.issued_at_ms(), testing::NOW * 1000 + 7);
        assert_eq!((facts.exp, facts.iat), (testing::NOW + 600, testing::NOW));
        assert_eq!(
            (&facts.audience, &facts.scope, &facts.amr),
            (&token.audience, &token.scope, &token.amr)
        );
        assert_eq!((&facts.act, &facts.claims), (&token.act, &token.claims));
        assert_eq!(facts.subject_jtis, token.subject_jtis);
        let chain = token.chain.as_ref().unwrap();
        assert_eq!(facts.agent_grants, chain.grants);
        assert_eq!(
            facts.authorization_details.as_ref(),
            Some(&chain.authorization_details)
        );
        assert_eq!(
            (facts.grant_id, facts.confirmation),
            (token.grant_id, token.confirmation)
        );
    }

    #[test]
    fn a_client_token_is_short() {
        let token = AccessToken {
            sub: "client".into(),
            grant_id: None,
            sid: None,
            auth_time: None,
            acr: None,
            amr: Vec::new(),
            confirmation: None,
            act: None,
            subject_jtis: Vec::new(),
            claims: None,
            chain: None,
            ..access_token()
        };
        let mut out = Vec::new();
        let stamp = Stamp {
            issuer: "https://as.example",
            id: Stamp::id(0, [0; 10]),
            now: 1,
            mapped: &Mapped::default(),
        };
        write_access_token(&token, &stamp, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"iss":"https://as.example","sub":"client","aud":"https://api.example","exp":601,"iat":1,"jti":"AAAAAAAAAAAAAAAAAAAAAA","client_id":"client","scope":"openid api:read"}"#
        );
    }

    /// Known fault A6: `acr` is what was done; and single claims come from the person's record
    /// alone.
    #[test]
    fn an_id_token_says_what_was_done_and_what_was_asked_for() {
        let id_token = IdToken {
            algorithm: Algorithm::Rs256,
            lifetime: 60,
            nonce: Some("n".into()),
            claims: Some(r#"{"id_token":{"acr":{"value":"gold"},"email":null,"sub":null}}"#.into()),
            sid: Some("sid-1".into()),
        };
        let user = UserClaims {
            email: Some("a@b.example".into()),
            ..UserClaims::default()
        };
        let mut out = Vec::new();
        write_id_token(
            &id_token,
            &access_token(),
            "token",
            Some((&user, Mapped::default())),
            "https://as.example",
            1,
            &mut out,
        );
        let hash = half_hash(Algorithm::Rs256, "token");
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!(
                r#"{{"iss":"https://as.example","sub":"user-1","aud":"client","exp":61,"iat":1,"auth_time":{},"nonce":"n","acr":"a","amr":["pwd","otp"],"at_hash":"{hash}","sid":"sid-1","email":"a@b.example"}}"#,
                testing::NOW - 5
            )
        );
    }

    #[test]
    fn a_certificate_bound_token_is_still_called_bearer() {
        assert_eq!(
            token_type(Some(&Confirmation::X5tS256("x".into()))),
            "Bearer"
        );
        assert_eq!(token_type(Some(&Confirmation::Jkt("x".into()))), "DPoP");
        assert_eq!(token_type(None), "Bearer");
    }
}
