//! A small world: an issuer with one key, a few clients, an index that a test can set to have
//! something revoked, or to be unable to answer.
use signet_crypto::{
    Algorithm, SigningKey, VerifyingKey,
    certificate::ClientCertificate,
    hash::sha256,
    seal::{Keyring, SealingKey},
};
use signet_encoding::json::Writer;
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};
use signet_oauth::authorize::redirect_uri::RedirectUri;
use signet_oauth::client::*;
use signet_oauth::error::OAuthError;
use signet_oauth::id::{CodeId, GrantId, read_jti};
use signet_oauth::issued::format::Stamp;
use signet_oauth::issued::sealed::AuthorizationCode;
use signet_oauth::params::Params;
use signet_oauth::people::mapped_claims::Mapped;
use signet_oauth::registry::{Registry, Resource};
use signet_oauth::request::{Context, IssuerKeys, IssuerSigners, PeerCertificate, Request};
use signet_oauth::scope::ScopeSet;
use signet_oauth::settings::Settings;
use signet_oauth::token::client_auth::Credentials;
use signet_oauth::token::decision::{Decision, RevocationQuery, Revocations, Unavailable};
use signet_oauth::token::{self, LookedUp};
use std::{cell::RefCell, sync::Arc};

pub const NOW: u64 = 1_800_000_000;
pub const ISSUER: &str = "https://as.example";
pub const HTU: &str = "https://as.example/token";
pub const SECRET: &str = "secret-secret-secret-secret-secret";
pub const API: &str = "https://api.example";
/// RFC 7636 appendix B
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// What the index says.
#[derive(Default)]
pub enum Index {
    #[default]
    Clear,
    Down,
    Grant(GrantId),
    Jti(String),
    /// of this user everything up to this millisecond
    User(&'static str, u64),
}

impl Revocations for World {
    fn is_revoked(&self, token: &RevocationQuery<'_>) -> Result<bool, Unavailable> {
        match &*self.index.borrow() {
            Index::Clear => Ok(false),
            Index::Down => Err(Unavailable),
            Index::Grant(grant_id) => Ok(token.grant_id == Some(*grant_id)),
            Index::Jti(jti) => {
                let jti = read_jti(jti).expect("an id");
                Ok(token.jti == Some(jti) || token.subject_jtis.contains(&jti))
            }
            Index::User(user, epoch) => {
                Ok(token.user_id == Some(user) && token.issued_at_ms <= *epoch)
            }
        }
    }
}

pub struct World {
    pub registry: Registry,
    pub settings: Settings,
    pub keyring: Keyring,
    pub signer: JwtSigner,
    verifying: VerifyingKey,
    pub compact: signet_compact::SigningKey,
    compact_keys: signet_compact::KeySet,
    pub index: RefCell<Index>,
    pub now_ms: u64,
}

impl IssuerKeys for World {
    fn verifying_key(&self, kid: &str) -> Option<&VerifyingKey> {
        (kid == "k1").then_some(&self.verifying)
    }
    fn compact_keys(&self) -> Option<&signet_compact::KeySet> {
        Some(&self.compact_keys)
    }
}

impl IssuerSigners for World {
    fn jwt_signer(&self, _: Algorithm) -> Option<&JwtSigner> {
        Some(&self.signer)
    }
    fn compact_signer(&self) -> Option<&signet_compact::SigningKey> {
        Some(&self.compact)
    }
}

impl World {
    pub fn new() -> World {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let verifying = VerifyingKey::new(Algorithm::Es256, key.public().unwrap()).unwrap();
        let compact =
            signet_compact::SigningKey::generate(signet_compact::Algorithm::Ed25519).unwrap();
        let mut world = World {
            registry: Registry::default(),
            settings: Settings::new(ISSUER),
            keyring: Keyring::new(SealingKey::generate(), Vec::new()),
            signer: JwtSigner::new(key, "k1"),
            verifying,
            compact_keys: signet_compact::KeySet::new([compact.verifying_key().unwrap()]).unwrap(),
            compact,
            index: RefCell::new(Index::Clear),
            now_ms: NOW * 1000,
        };
        world.registry.scopes = Registry::standard_scopes();
        world.registry.resources.insert(
            API.into(),
            Arc::new(Resource {
                identifier: API.into(),
                name: None,
                scopes: scope("api:read api:write"),
                access_token_signed_response_alg: None,
                access_token_format: None,
                access_token_lifetime: Some(120),
                introspectors: vec!["gateway".into()],
                claims: Vec::new(),
                revision: 1,
            }),
        );
        world.add(client("web"));
        world.add(Client {
            token_endpoint_auth_method: AuthMethod::None,
            application_type: ApplicationType::Native,
            secrets: Vec::new(),
            ..client("native")
        });
        world.add(Client {
            may_act_for: vec!["web".into(), "native".into()],
            ..client("service")
        });
        world.add(client("another"));
        world.add(client("gateway"));
        world
    }

    pub fn add(&mut self, client: Client) {
        self.registry
            .clients
            .insert(client.client_id.clone(), Arc::new(client));
    }
    pub fn change(&mut self, client_id: &str, change: impl FnOnce(&mut Client)) {
        let mut client = Client::clone(&self.registry.clients[client_id]);
        change(&mut client);
        self.add(client);
    }
    pub fn client(&self, client_id: &str) -> Arc<Client> {
        Arc::clone(&self.registry.clients[client_id])
    }
    pub fn now(&self) -> u64 {
        self.now_ms / 1000
    }
    pub fn context(&self) -> Context<'_> {
        Context {
            registry: &self.registry,
            settings: &self.settings,
            keyring: &self.keyring,
            keys: self,
            revocations: self,
            now_ms: self.now_ms,
            issue_ms: self.now_ms,
        }
    }

    /// A token request with everything that can be shown.
    pub fn ask(
        &self,
        form: &str,
        authorization: Option<&str>,
        dpop: Option<&str>,
        certificate: Option<&ClientCertificate>,
    ) -> Result<Decision, OAuthError> {
        let params = Params::parse(form.as_bytes())?;
        let request = Request {
            params: &params,
            authorization,
            certificate: certificate.map(|certificate| PeerCertificate {
                certificate,
                trusted: true,
            }),
            dpop,
            htm: "POST",
            htu: HTU,
        };
        let credentials = Credentials::of(&request)?;
        token::decide(&self.context(), &request, &credentials, LookedUp::default())
    }
    /// As a confidential client with the usual secret.
    pub fn ask_as(&self, client_id: &str, form: &str) -> Result<Decision, OAuthError> {
        self.ask(form, Some(&basic(client_id, SECRET)), None, None)
    }
    pub fn ask_public(&self, form: &str, dpop: Option<&str>) -> Result<Decision, OAuthError> {
        self.ask(&format!("client_id=native&{form}"), None, dpop, None)
    }

    /// Signs the decision's access token, as the server would.
    pub fn sign(&self, decision: &Decision) -> String {
        let token = &decision.issue.access_token;
        let stamp = Stamp {
            issuer: ISSUER,
            id: Stamp::id(self.now_ms, signet_crypto::random::bytes()),
            now: self.now(),
            mapped: &Mapped::default(),
        };
        let mut out = Vec::new();
        let format = token.format.implementation();
        format.write(token, &stamp, self, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
    pub fn sign_payload(&self, typ: Typ, payload: &[u8]) -> String {
        let mut token = Vec::new();
        self.signer.sign_into(typ, payload, &mut token).unwrap();
        String::from_utf8(token).unwrap()
    }
    /// A person's token of a client, by way of a code.
    pub fn person_token(&self, client_id: &str, scope_text: &str) -> String {
        let code = AuthorizationCode {
            scope: scope(scope_text),
            ..self.code(client_id)
        };
        let form = code_form(&code.seal(&self.keyring).unwrap());
        let decision = match self.client(client_id).is_public() {
            true => self.ask_public(&form, None),
            false => self.ask_as(client_id, &form),
        };
        self.sign(&decision.unwrap())
    }
    pub fn client_token(&self, client_id: &str) -> String {
        self.sign(
            &self
                .ask_as(client_id, "grant_type=client_credentials")
                .unwrap(),
        )
    }

    pub fn code(&self, client_id: &str) -> AuthorizationCode {
        AuthorizationCode {
            id: CodeId::new([1; 16]),
            grant_id: GrantId::new([2; 16]),
            client_id: client_id.into(),
            redirect_uri: "https://client.example/cb".into(),
            redirect_uri_was_sent: true,
            code_challenge: Some(CHALLENGE.into()),
            nonce: Some("n-1".into()),
            scope: scope("openid profile api:read"),
            resources: Vec::new(),
            user_id: "user-1".into(),
            sid: "sid-1".into(),
            auth_time: self.now() - 30,
            acr: "urn:signet:acr:password".into(),
            amr: vec!["pwd".into()],
            session_ends_at: u64::MAX,
            claims: None,
            dpop_jkt: None,
            issued_at_ms: self.now_ms - 10_000,
            expires_at: self.now() + 50,
        }
    }
}

pub fn code_form(code: &str) -> String {
    format!(
        "grant_type=authorization_code&code={code}&redirect_uri=https://client.example/cb&code_verifier={VERIFIER}"
    )
}

pub fn scope(text: &str) -> ScopeSet {
    ScopeSet::parse(text).unwrap()
}

/// `Basic` credentials of texts that need no form encoding.
pub fn basic(client_id: &str, secret: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::from("Basic ");
    for chunk in format!("{client_id}:{secret}").as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, &b| bits << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            out.push(if i <= chunk.len() {
                ALPHABET[(bits >> (18 - 6 * i) & 63) as usize] as char
            } else {
                '='
            });
        }
    }
    out
}

/// A confidential client with every grant and the usual secret.
pub fn client(client_id: &str) -> Client {
    Client {
        revision: 1,
        redirect_uris: vec![RedirectUri::parse("https://client.example/cb", false).unwrap()],
        grant_types: GrantType::ALL.to_vec(),
        secrets: vec![ClientSecret::Sha256 {
            hash: sha256(SECRET.as_bytes()),
            expires_at: None,
        }],
        scope: scope("openid profile email offline_access api:read api:write"),
        resources: vec![API.into()],
        ..Client::new(client_id, NOW - 1_000_000)
    }
}

pub fn certificate(seed: u8) -> ClientCertificate {
    ClientCertificate {
        thumbprint: [seed; 32],
        subject_dn: format!("CN=client-{seed}"),
        san_dns: vec![format!("client-{seed}.example")],
        san_uri: Vec::new(),
        san_ip: Vec::new(),
        san_email: Vec::new(),
        spki: vec![seed; 8],
        not_before: NOW - 1000,
        not_after: NOW + 1000,
        is_authority: false,
    }
}

/// A client's own key pair, for assertions and proofs.
pub struct ClientKey {
    pub key: SigningKey,
    pub jwk: Jwk,
}

impl ClientKey {
    pub fn new(kid: Option<&str>) -> ClientKey {
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let mut jwk = Jwk::new(key.public().unwrap().clone());
        jwk.kid = kid.map(str::to_owned);
        ClientKey { key, jwk }
    }
    pub fn jwks(&self) -> JwkSet {
        JwkSet {
            keys: vec![self.jwk.clone()],
        }
    }
    pub fn jkt(&self) -> String {
        self.jwk.thumbprint_text()
    }
    /// A DPoP proof for the token endpoint.
    pub fn proof(&self, jti: &str, iat: u64, nonce: Option<&str>, ath: Option<&str>) -> String {
        let mut header = Vec::new();
        Writer::new(&mut header).object(|w| {
            w.member("typ").string("dpop+jwt");
            w.member("alg").string("ES256");
            w.member("jwk");
            self.jwk.write(w);
        });
        let mut payload = Vec::new();
        Writer::new(&mut payload).object(|w| {
            w.member("jti").string(jti);
            w.member("htm").string("POST");
            w.member("htu").string(HTU);
            w.member("iat").number(iat);
            if let Some(nonce) = nonce {
                w.member("nonce").string(nonce);
            }
            if let Some(ath) = ath {
                w.member("ath").string(ath);
            }
        });
        jws(&self.key, &header, &payload)
    }
}

/// A compact JWS with any header.
pub fn jws(key: &SigningKey, header: &[u8], payload: &[u8]) -> String {
    use signet_encoding::base64url::encode;
    let input = format!("{}.{}", encode(header), encode(payload));
    let mut signature = Vec::new();
    key.sign_into(input.as_bytes(), &mut signature).unwrap();
    format!("{input}.{}", encode(&signature))
}
