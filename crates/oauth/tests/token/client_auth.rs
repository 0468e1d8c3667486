use crate::support::*;
use signet_crypto::{Algorithm, SigningKey, certificate::ClientCertificate};
use signet_encoding::json::Writer;
use signet_oauth::client::*;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params;
use signet_oauth::token::client_auth::{ASSERTION_TYPE, METHODS, seal_secret};
use signet_oauth::token::decision::SingleUse;

const CC: &str = "grant_type=client_credentials";

fn code_of<T: std::fmt::Debug>(result: Result<T, OAuthError>) -> ErrorCode {
    result.unwrap_err().code
}

/// An assertion with its claims as a test wants them.
struct Claims<'a> {
    iss: &'a str,
    sub: &'a str,
    /// one: as a string, unless `aud_as_array`
    aud: Option<Vec<&'a str>>,
    aud_as_array: bool,
    exp: Option<u64>,
    iat: Option<u64>,
    nbf: Option<u64>,
    jti: Option<&'a str>,
}

impl Default for Claims<'_> {
    fn default() -> Self {
        Claims {
            iss: "web",
            sub: "web",
            aud: Some(vec![ISSUER]),
            aud_as_array: false,
            exp: Some(NOW + 60),
            iat: Some(NOW),
            nbf: None,
            jti: Some("j-1"),
        }
    }
}

impl Claims<'_> {
    fn payload(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Writer::new(&mut out).object(|w| {
            w.member("iss").string(self.iss);
            w.member("sub").string(self.sub);
            match self.aud.as_deref() {
                None => {}
                Some([one]) if !self.aud_as_array => w.member("aud").string(one),
                Some(several) => w.member("aud").strings(several),
            }
            for (name, value) in [("exp", self.exp), ("iat", self.iat), ("nbf", self.nbf)] {
                if let Some(value) = value {
                    w.member(name).number(value);
                }
            }
            if let Some(jti) = self.jti {
                w.member("jti").string(jti);
            }
        });
        out
    }
}

fn with_assertion(assertion: &str) -> String {
    let mut kind = String::new();
    params::encode_into(ASSERTION_TYPE, &mut kind);
    format!("{CC}&client_assertion_type={kind}&client_assertion={assertion}")
}

fn private_key_world(key: &ClientKey) -> World {
    let mut world = World::new();
    world.change("web", |client| {
        client.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
        client.jwks = Some(key.jwks());
    });
    world
}

const HEADER: &[u8] = br#"{"alg":"ES256","kid":"c1"}"#;

fn try_claims(claims: &Claims<'_>) -> Result<Vec<SingleUse>, OAuthError> {
    let key = ClientKey::new(Some("c1"));
    let world = private_key_world(&key);
    world
        .ask(
            &with_assertion(&jws(&key.key, HEADER, &claims.payload())),
            None,
            None,
            None,
        )
        .map(|decision| decision.single_use)
}

#[test]
fn every_method_of_the_registry_has_its_row() {
    let rows: Vec<_> = METHODS.iter().map(|row| row.method).collect();
    assert_eq!(rows, AuthMethod::ALL);
}

#[test]
fn a_secret_is_accepted_by_the_registered_method_alone() {
    let mut world = World::new();
    world.ask_as("web", CC).unwrap();
    let post = format!("{CC}&client_id=web&client_secret={SECRET}");
    assert_eq!(
        code_of(world.ask(&post, None, None, None)),
        ErrorCode::InvalidClient
    );
    world.change("web", |client| {
        client.token_endpoint_auth_method = AuthMethod::ClientSecretPost
    });
    world.ask(&post, None, None, None).unwrap();
    assert_eq!(code_of(world.ask_as("web", CC)), ErrorCode::InvalidClient);
    assert_eq!(
        code_of(world.ask(&format!("{CC}&client_id=web"), None, None, None)),
        ErrorCode::InvalidClient
    );
}

#[test]
fn wrong_secret_unknown_client_and_disabled_client_get_one_answer() {
    let mut world = World::new();
    world.change("another", |client| client.enabled = false);
    let answers = [
        ("web", "wrong"),
        ("nobody", SECRET),
        ("another", SECRET),
        ("native", SECRET),
    ]
    .map(|(client_id, secret)| {
        world
            .ask(CC, Some(&basic(client_id, secret)), None, None)
            .unwrap_err()
    });
    for answer in answers {
        assert_eq!(
            (answer.code, answer.description),
            (ErrorCode::InvalidClient, "client authentication failed")
        );
        assert_eq!(answer.status(), 401);
    }
}

#[test]
fn two_methods_in_one_request_are_refused() {
    let world = World::new();
    let form = format!("{CC}&client_id=web&client_secret={SECRET}");
    assert_eq!(
        code_of(world.ask(&form, Some(&basic("web", SECRET)), None, None)),
        ErrorCode::InvalidRequest
    );
    let other = format!("{CC}&client_id=another");
    assert_eq!(
        code_of(world.ask(&other, Some(&basic("web", SECRET)), None, None)),
        ErrorCode::InvalidClient
    );
    world
        .ask(
            &format!("{CC}&client_id=web"),
            Some(&basic("web", SECRET)),
            None,
            None,
        )
        .unwrap();
}

#[test]
fn a_secret_that_has_ended_is_refused_and_a_rotated_one_works_beside_it() {
    let mut world = World::new();
    world.change("web", |client| {
        let hash = signet_crypto::hash::sha256(b"another-secret-another-secret-12345");
        client.secrets = vec![
            ClientSecret::Sha256 {
                hash: signet_crypto::hash::sha256(SECRET.as_bytes()),
                expires_at: Some(NOW),
            },
            ClientSecret::Sha256 {
                hash,
                expires_at: Some(NOW + 1),
            },
        ];
    });
    assert_eq!(code_of(world.ask_as("web", CC)), ErrorCode::InvalidClient);
    world
        .ask(
            CC,
            Some(&basic("web", "another-secret-another-secret-12345")),
            None,
            None,
        )
        .unwrap();
}

#[test]
fn an_assertion_is_accepted_once() {
    let once = try_claims(&Claims::default()).unwrap();
    assert_eq!(
        once,
        [SingleUse::Assertion {
            client_id: "web".into(),
            jti: "j-1".into(),
            end: NOW + 120
        }]
    );
}

/// Known fault A20.
#[test]
fn an_assertions_audience_is_the_issuer_alone() {
    let token_endpoint = format!("{ISSUER}/token");
    for aud in [
        None,
        Some(vec![&*token_endpoint]),
        Some(vec![ISSUER, &token_endpoint]),
        Some(vec!["https://as.example/"]),
        Some(vec![]),
    ] {
        let claims = Claims {
            aud,
            ..Claims::default()
        };
        assert_eq!(code_of(try_claims(&claims)), ErrorCode::InvalidClient);
    }
}

/// FAPI 2.0 section 5.3.2.1.
#[test]
fn an_assertions_audience_is_a_string_not_an_array() {
    let array = Claims {
        aud_as_array: true,
        ..Claims::default()
    };
    assert_eq!(code_of(try_claims(&array)), ErrorCode::InvalidClient);
    try_claims(&Claims::default()).unwrap();
}

#[test]
fn an_assertion_is_of_and_about_the_client() {
    for (iss, sub) in [
        ("web", "another"),
        ("another", "web"),
        ("another", "another"),
    ] {
        assert_eq!(
            code_of(try_claims(&Claims {
                iss,
                sub,
                ..Claims::default()
            })),
            ErrorCode::InvalidClient
        );
    }
}

#[test]
fn an_assertions_times_and_id_are_bounded() {
    let long = "x".repeat(257);
    let bad = [
        Claims {
            exp: None,
            ..Claims::default()
        },
        Claims {
            exp: Some(NOW),
            ..Claims::default()
        },
        Claims {
            exp: Some(NOW + 3631),
            ..Claims::default()
        },
        Claims {
            iat: Some(NOW + 60),
            ..Claims::default()
        },
        Claims {
            nbf: Some(NOW + 60),
            ..Claims::default()
        },
        Claims {
            jti: None,
            ..Claims::default()
        },
        Claims {
            jti: Some(""),
            ..Claims::default()
        },
        Claims {
            jti: Some(&long),
            ..Claims::default()
        },
    ];
    for claims in &bad {
        assert_eq!(code_of(try_claims(claims)), ErrorCode::InvalidClient);
    }
    try_claims(&Claims {
        iat: Some(NOW + 10),
        nbf: Some(NOW + 10),
        ..Claims::default()
    })
    .unwrap();
}

#[test]
fn an_assertion_needs_the_registered_key_algorithm_and_type() {
    let key = ClientKey::new(Some("c1"));
    let world = private_key_world(&key);
    let payload = Claims::default().payload();
    let ask = |token: &str| world.ask(&with_assertion(token), None, None, None);
    ask(&jws(&key.key, HEADER, &payload)).unwrap();
    ask(&jws(
        &key.key,
        br#"{"alg":"ES256","typ":"client-authentication+jwt"}"#,
        &payload,
    ))
    .unwrap();
    let other = ClientKey::new(Some("c1"));
    for bad in [
        jws(&other.key, HEADER, &payload),
        jws(&key.key, br#"{"alg":"ES256","kid":"c2"}"#, &payload),
        jws(&key.key, br#"{"alg":"ES384","kid":"c1"}"#, &payload),
        jws(&key.key, br#"{"alg":"none"}"#, &payload),
        jws(
            &key.key,
            br#"{"alg":"ES256","kid":"c1","typ":"at+jwt"}"#,
            &payload,
        ),
        jws(
            &key.key,
            br#"{"alg":"ES256","kid":"c1","typ":"dpop+jwt"}"#,
            &payload,
        ),
    ] {
        assert_eq!(code_of(ask(&bad)), ErrorCode::InvalidClient);
    }
}

#[test]
fn a_public_key_is_no_hmac_key() {
    let key = ClientKey::new(Some("c1"));
    let world = private_key_world(&key);
    let hmac = SigningKey::from_private(Algorithm::Hs256, SECRET.as_bytes()).unwrap();
    let token = jws(&hmac, br#"{"alg":"HS256"}"#, &Claims::default().payload());
    assert_eq!(
        code_of(world.ask(&with_assertion(&token), None, None, None)),
        ErrorCode::InvalidClient
    );
}

#[test]
fn client_secret_jwt_uses_the_sealed_secret_of_this_client() {
    let mut world = World::new();
    for (client_id, sealed_for) in [("web", "web"), ("another", "web")] {
        let sealed = seal_secret(&world.keyring, sealed_for, SECRET).unwrap();
        world.change(client_id, |client| {
            client.token_endpoint_auth_method = AuthMethod::ClientSecretJwt;
            client.token_endpoint_auth_signing_alg = Some(Algorithm::Hs256);
            client.secrets = vec![ClientSecret::Sealed {
                sealed,
                expires_at: None,
            }];
        });
    }
    let ask = |alg, secret: &str, client_id| {
        let key = SigningKey::from_private(alg, secret.as_bytes()).unwrap();
        let header = format!(r#"{{"alg":"{}"}}"#, alg.name());
        let claims = Claims {
            iss: client_id,
            sub: client_id,
            ..Claims::default()
        };
        world.ask(
            &with_assertion(&jws(&key, header.as_bytes(), &claims.payload())),
            None,
            None,
            None,
        )
    };
    assert_eq!(
        ask(Algorithm::Hs256, SECRET, "web")
            .unwrap()
            .single_use
            .len(),
        1
    );
    assert_eq!(
        code_of(ask(
            Algorithm::Hs256,
            "another-secret-another-secret-12345",
            "web"
        )),
        ErrorCode::InvalidClient
    );
    // not the registered algorithm; a secret that was sealed for another client
    assert_eq!(
        code_of(ask(Algorithm::Hs512, &SECRET.repeat(2), "web")),
        ErrorCode::InvalidClient
    );
    assert_eq!(
        code_of(ask(Algorithm::Hs256, SECRET, "another")),
        ErrorCode::InvalidClient
    );
    // a client that does not exist
    assert_eq!(
        code_of(ask(Algorithm::Hs256, SECRET, "nobody")),
        ErrorCode::InvalidClient
    );
}

#[test]
fn tls_client_auth_needs_the_registered_subject_and_a_trusted_chain() {
    use signet_oauth::params::Params;
    use signet_oauth::request::{PeerCertificate, Request};
    use signet_oauth::token::client_auth::{Credentials, authenticate};
    let mut world = World::new();
    world.change("web", |client| {
        client.token_endpoint_auth_method = AuthMethod::TlsClientAuth;
        client.tls_client_auth = Some(TlsClientAuth::SubjectDn("CN=client-1".into()));
    });
    let params = Params::parse(b"client_id=web").unwrap();
    let check = |certificate: Option<&ClientCertificate>, trusted| {
        let certificate = certificate.map(|certificate| PeerCertificate {
            certificate,
            trusted,
        });
        let request = Request {
            params: &params,
            authorization: None,
            certificate,
            dpop: None,
            htm: "POST",
            htu: HTU,
        };
        authenticate(
            &world.context(),
            &request,
            &Credentials::of(&request).unwrap(),
            None,
        )
        .is_ok()
    };
    assert!(check(Some(&certificate(1)), true));
    assert!(
        !check(Some(&certificate(1)), false),
        "anybody can write a subject"
    );
    assert!(!check(Some(&certificate(2)), true));
    assert!(!check(None, true));
    assert!(!check(
        Some(&ClientCertificate {
            not_after: NOW - 1,
            ..certificate(1)
        }),
        true
    ));
}

#[test]
fn self_signed_tls_client_auth_needs_the_registered_certificate() {
    let mut world = World::new();
    let mut key = ClientKey::new(None);
    let der = b"stands for a certificate".to_vec();
    key.jwk.x5c = vec![der.clone()];
    world.change("web", |client| {
        client.token_endpoint_auth_method = AuthMethod::SelfSignedTlsClientAuth;
        client.jwks = Some(key.jwks());
    });
    let own = ClientCertificate {
        thumbprint: signet_crypto::hash::sha256(&der),
        ..certificate(1)
    };
    let form = format!("{CC}&client_id=web");
    world.ask(&form, None, None, Some(&own)).unwrap();
    assert_eq!(
        code_of(world.ask(&form, None, None, Some(&certificate(1)))),
        ErrorCode::InvalidClient
    );
    assert_eq!(
        code_of(world.ask(&form, None, None, None)),
        ErrorCode::InvalidClient
    );
}

/// OpenID Connect Core section 9 names the token endpoint; FAPI 2.0 section 5.3.2.1 forbids it. A
/// record decides, strict by default.
#[test]
fn the_token_endpoint_is_an_assertions_audience_only_where_the_record_allows_it() {
    let key = ClientKey::new(Some("c1"));
    let ask = |change: &dyn Fn(&mut World), claims: &Claims<'_>| {
        let mut world = private_key_world(&key);
        change(&mut world);
        let assertion = jws(&key.key, HEADER, &claims.payload());
        world.ask(&with_assertion(&assertion), None, None, None)
    };
    let endpoint = || Claims {
        aud: Some(vec![HTU]),
        ..Claims::default()
    };
    fn allow(world: &mut World) {
        world.change("web", |client| {
            client.token_endpoint_assertion_audience = true
        });
    }
    // Of a client that registered itself, the server's settings decide.
    fn allow_all(world: &mut World) {
        world
            .settings
            .registration
            .token_endpoint_assertion_audience = true;
    }
    let itself = |world: &mut World| {
        allow_all(world);
        world.change("web", |client| {
            client.registration_token_hash = Some([0; 32]);
        });
    };
    assert!(ask(&itself, &endpoint()).is_ok());
    assert_eq!(
        code_of(ask(&allow_all, &endpoint())),
        ErrorCode::InvalidClient
    );
    assert_eq!(code_of(ask(&|_| {}, &endpoint())), ErrorCode::InvalidClient);
    assert!(ask(&allow, &endpoint()).is_ok());
    assert!(ask(&allow, &Claims::default()).is_ok());
    for aud in [
        vec![HTU, ISSUER],
        vec!["https://as.example/introspect"],
        vec!["https://other.example/token"],
    ] {
        let claims = Claims {
            aud: Some(aud),
            ..Claims::default()
        };
        assert_eq!(code_of(ask(&allow, &claims)), ErrorCode::InvalidClient);
    }
    let array = Claims {
        aud_as_array: true,
        ..endpoint()
    };
    assert_eq!(code_of(ask(&allow, &array)), ErrorCode::InvalidClient);
    // Profiles that forbid it win over the record.
    let strict: [&dyn Fn(&mut World); 4] = [
        &|world| world.settings.require_pushed_authorization_requests = true,
        &|world| world.change("web", |c| c.require_pushed_authorization_requests = true),
        &|world| world.change("web", |c| c.dpop_bound_access_tokens = true),
        &|world| {
            world.change("web", |c| {
                c.tls_client_certificate_bound_access_tokens = true
            })
        },
    ];
    for profile in strict {
        let both = |world: &mut World| {
            allow(world);
            profile(world);
        };
        assert_eq!(code_of(ask(&both, &endpoint())), ErrorCode::InvalidClient);
        let itself = |world: &mut World| {
            itself(world);
            profile(world);
        };
        assert_eq!(code_of(ask(&itself, &endpoint())), ErrorCode::InvalidClient);
    }
}
