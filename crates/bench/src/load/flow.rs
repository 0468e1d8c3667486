//! The scenarios: clients made by dynamic registration, and one operation of each, as a client
//! sends it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, StatusCode};
use signet_crypto::certificate::DevelopmentCa;
use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::{base64url, json};
use signet_jose::jwk::Jwk;
use signet_jose::jwt::{JwtSigner, Typ};

use crate::client::{Answer, Connection, Failure, Target};
use crate::process::Server;
use crate::{engine::Engine, nodes::Nodes};

/// The six ways in which a client proves itself at the token endpoint.
pub const METHODS: [&str; 6] = [
    "client_secret_basic",
    "client_secret_post",
    "client_secret_jwt",
    "private_key_jwt",
    "tls_client_auth",
    "self_signed_tls_client_auth",
];

/// A running installation of one or several nodes, and what its documents say.
pub struct Provider {
    /// The process whose URL is the issuer.
    pub server: Server,
    /// The other nodes of the installation.
    pub others: Vec<Server>,
    /// The issuer.
    pub issuer: String,
    /// What `dev.json` says: clients, user, administrator.
    pub developer: serde_json::Value,
    ca: Vec<u8>,
}

/// A registered client and how it proves itself.
pub struct RegisteredClient {
    client_id: String,
    secret: Option<String>,
    method: &'static str,
    signer: Option<JwtSigner>,
    /// Where to connect, for each node: the ordinary listener, or the one that asks for
    /// certificates.
    pub targets: Vec<Target>,
}

impl Provider {
    /// Starts development servers as one installation and reads what they wrote. `store`: what
    /// `--store` takes, the embedded one otherwise.
    pub async fn start(nodes: usize, store: Option<&str>) -> Result<Provider, Failure> {
        let engine = store.map_or(Engine::Embedded, Engine::Postgres);
        let mut servers = Nodes::start(engine, nodes)?.servers;
        let mut provider = Provider::of(servers.remove(0)).await?;
        provider.others = servers;
        provider.all_ready().await?;
        Ok(provider)
    }

    /// Reads what a development server wrote.
    pub async fn of(server: Server) -> Result<Provider, Failure> {
        let developer: serde_json::Value = serde_json::from_slice(&server.file("dev.json")?)?;
        let issuer = developer["issuer"].as_str().ok_or("no issuer")?.to_owned();
        let provider = Provider {
            ca: server.file("ca.pem")?,
            server,
            others: Vec::new(),
            issuer,
            developer,
        };
        provider.all_ready().await?;
        Ok(provider)
    }

    /// All processes, the one whose URL is the issuer first.
    pub fn nodes(&self) -> impl Iterator<Item = &Server> {
        std::iter::once(&self.server).chain(&self.others)
    }

    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// Waits until every node says that it is ready.
    async fn all_ready(&self) -> Result<(), Failure> {
        let begun = Instant::now();
        for target in self.targets()? {
            loop {
                let mut connection = target.connect().await?;
                let path = "/health/ready";
                let answer = connection.send(Method::GET, path, &[], Bytes::new()).await;
                if answer.is_ok_and(|answer| answer.status == StatusCode::OK) {
                    break;
                }
                if begun.elapsed() > Duration::from_secs(90) {
                    return Err("a node does not become ready".into());
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        Ok(())
    }

    /// Waits until no node is busy with what a start leaves behind: a moment after it, the keys
    /// that come next are made, and an RSA key takes a core for a tenth of a second or more. Their
    /// time is no request's.
    ///
    /// # Errors
    /// A process that is gone, or one that is still busy after half a minute.
    pub async fn settled(&self) -> Result<(), Failure> {
        const LOOK: Duration = Duration::from_millis(250);
        const QUIET: u32 = 10;
        let begun = Instant::now();
        let (mut quiet, mut before) = (0, self.cpu_us()?);
        while quiet < QUIET {
            if begun.elapsed() > Duration::from_secs(30) {
                return Err("the nodes do not come to rest".into());
            }
            tokio::time::sleep(LOOK).await;
            let now = self.cpu_us()?;
            // Two per cent of a core for each: what keeps several nodes together costs one.
            let rest = LOOK.as_micros() as u64 / 50 * self.count() as u64;
            quiet = if now - before <= rest { quiet + 1 } else { 0 };
            before = now;
        }
        Ok(())
    }

    /// The ordinary listener of the first.
    pub fn target(&self) -> Result<Target, Failure> {
        Target::new(self.server.port()?, &self.ca, None)
    }

    /// The ordinary listener of each node.
    pub fn targets(&self) -> Result<Vec<Target>, Failure> {
        self.nodes()
            .map(|node| Target::new(node.port()?, &self.ca, None))
            .collect()
    }

    /// The listener of each node that asks for certificates, with this one to show.
    fn certificate_targets(&self, chain: &str, key: &str) -> Result<Vec<Target>, Failure> {
        let nodes = self.nodes().map(|node| {
            let port = String::from_utf8(node.file("mtls.port")?)?;
            Target::new(port.trim().parse()?, &self.ca, Some((chain, key)))
        });
        nodes.collect()
    }

    /// The time that the threads of all nodes ran, in microseconds.
    pub fn cpu_us(&self) -> Result<u64, Failure> {
        self.nodes().map(|node| Ok(node.ran_ns()? / 1000)).sum()
    }

    /// Resident memory of all nodes, in bytes.
    pub fn resident_bytes(&self) -> Result<u64, Failure> {
        self.nodes().map(Server::resident_bytes).sum()
    }

    /// A client of `dev.json`.
    pub fn known_client(&self, name: &str) -> Result<RegisteredClient, Failure> {
        let client = &self.developer["clients"][name];
        let text = |member: &str| client[member].as_str().map(str::to_owned);
        Ok(RegisteredClient {
            client_id: text("client_id").ok_or("no such client")?,
            secret: text("client_secret"),
            method: "client_secret_basic",
            signer: None,
            targets: self.targets()?,
        })
    }

    /// Waits until every node knows a client: until it gives the client a token.
    async fn known_everywhere(&self, client: &RegisteredClient) -> Result<(), Failure> {
        for target in client.targets.iter().skip(1) {
            let begun = Instant::now();
            loop {
                let mut connection = target.connect().await?;
                let form = "grant_type=client_credentials";
                let request = self.requests(client, form, 1)?.pop().ok_or("no request")?;
                let authorization = request.authorization.as_deref();
                let answer = connection.form("/token", authorization, request.body);
                // A client of another grant is known where it is refused for that.
                let answer = answer.await?;
                let known = answer.status == StatusCode::OK
                    || answer
                        .body
                        .windows(14)
                        .any(|part| part == b"\"unauthorized_");
                if known {
                    break;
                }
                if begun.elapsed() > Duration::from_secs(20) {
                    return Err("a node does not know the client".into());
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Ok(())
    }

    /// Registers a client for `grant_types` with one authentication method; its access tokens are
    /// signed with `algorithm`.
    pub async fn register(
        &self,
        method: &'static str,
        algorithm: Algorithm,
        more: serde_json::Value,
    ) -> Result<RegisteredClient, Failure> {
        let mut metadata = serde_json::json!({
            "client_name": format!("bench {method} {}", algorithm.name()),
            "grant_types": ["client_credentials"],
            "response_types": [],
            "redirect_uris": [],
            "token_endpoint_auth_method": method,
        });
        let mut targets = self.targets()?;
        let mut signer = None;
        match method {
            "client_secret_jwt" => metadata["token_endpoint_auth_signing_alg"] = "HS256".into(),
            "private_key_jwt" => {
                let key = SigningKey::generate(Algorithm::Es256)?;
                let public = key.public().ok_or("an asymmetric key")?.clone();
                metadata["token_endpoint_auth_signing_alg"] = "ES256".into();
                metadata["jwks"] = jwks(Jwk::new(public))?;
                signer = Some(JwtSigner::new(key, "bench"));
            }
            "tls_client_auth" | "self_signed_tls_client_auth" => {
                let ca = match method {
                    "tls_client_auth" => self.development_ca()?,
                    _ => DevelopmentCa::generate()?,
                };
                let (chain, key) = ca.issue_client("bench.example")?;
                targets = self.certificate_targets(&chain, key.expose())?;
                if method == "tls_client_auth" {
                    metadata["tls_client_auth_subject_dn"] = "CN=bench.example".into();
                } else {
                    metadata["jwks"] = certificate_jwks(&chain)?;
                }
            }
            _ => {}
        }
        if let (Some(metadata), Some(more)) = (metadata.as_object_mut(), more.as_object()) {
            metadata.extend(more.clone());
        }
        let mut connection = self.targets()?[0].connect().await?;
        let body = Bytes::from(serde_json::to_vec(&metadata)?);
        let answer = connection
            .send(
                Method::POST,
                "/register",
                &[("content-type", "application/json")],
                body,
            )
            .await?;
        if answer.status != StatusCode::CREATED {
            return Err(format!(
                "registration: {} {}",
                answer.status,
                String::from_utf8_lossy(&answer.body)
            )
            .into());
        }
        let answer = answer.json()?;
        if algorithm != Algorithm::Es256 {
            // Which algorithm signs a client's access tokens is the operator's to say.
            let client_id = answer["client_id"].as_str().ok_or("no client_id")?;
            let member = format!("access_token_signed_response_alg={}", algorithm.name());
            self.server.set_client(client_id, &member)?;
        }
        let text = |name: &str| answer[name].as_str().map(str::to_owned);
        let secret = text("client_secret");
        if method == "client_secret_jwt" {
            let secret = secret.as_deref().ok_or("no client_secret")?;
            signer = Some(JwtSigner::new(
                SigningKey::from_private(Algorithm::Hs256, secret.as_bytes())?,
                "bench",
            ));
        }
        let client = RegisteredClient {
            client_id: text("client_id").ok_or("no client_id")?,
            secret,
            method,
            signer,
            targets,
        };
        self.known_everywhere(&client).await?;
        Ok(client)
    }

    /// The development server's own authority, whose client certificates it trusts.
    fn development_ca(&self) -> Result<DevelopmentCa, Failure> {
        let key = self.server.file("ca.key")?;
        Ok(DevelopmentCa::from_pem(
            std::str::from_utf8(&self.ca)?,
            std::str::from_utf8(&key)?,
        )?)
    }

    /// A client assertion for each coming request: making one is the client's work, not the
    /// server's.
    pub fn requests(
        &self,
        client: &RegisteredClient,
        form: &str,
        count: usize,
    ) -> Result<Vec<Prepared>, Failure> {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)?
            .as_secs();
        (0..count)
            .map(|_| client.prepare(&self.issuer, form, now))
            .collect()
    }

    /// Logs the development user in and gives the session's cookies.
    pub async fn log_in(
        &self,
        connection: &mut Connection,
        client_id: &str,
        redirect_uri: &str,
    ) -> Result<String, Failure> {
        let user = &self.developer["user"];
        let (name, password) = (
            user["username"].as_str().ok_or("no username")?,
            user["password"].as_str().ok_or("no password")?,
        );
        let person = (name, password);
        let done = self.log_in_as(connection, client_id, redirect_uri, person);
        Ok(done.await?.0)
    }

    /// Logs somebody in, by name and password, and consents; the session's cookies, and where the
    /// browser is sent then, with its code.
    pub async fn log_in_as(
        &self,
        connection: &mut Connection,
        client_id: &str,
        redirect_uri: &str,
        (name, password): (&str, &str),
    ) -> Result<(String, String), Failure> {
        let mut cookies = Cookies::default();
        let path = authorization_path(client_id, redirect_uri, "");
        let mut answer = connection
            .send(Method::GET, &path, &[], Bytes::new())
            .await?;
        for _ in 0..10 {
            cookies.read(&answer);
            let cookie = cookies.header();
            if let Some(location) = location(&answer) {
                if location.starts_with(redirect_uri) {
                    return Ok((cookie, location));
                }
                let path = location
                    .strip_prefix(&self.issuer)
                    .unwrap_or(&location)
                    .to_owned();
                answer = connection
                    .send(Method::GET, &path, &[("cookie", &cookie)], Bytes::new())
                    .await?;
                continue;
            }
            let page = String::from_utf8(answer.body.to_vec())?;
            let (action, mut fields) =
                form(&page).ok_or_else(|| format!("a page without a form: {page}"))?;
            if page.contains("name=\"password\"") {
                fields.push(("username".into(), name.into()));
                fields.push(("password".into(), password.into()));
            }
            fields.push(("decision".into(), "allow".into()));
            let body = encode(&fields);
            let headers = [
                ("cookie", cookie.as_str()),
                ("content-type", "application/x-www-form-urlencoded"),
                ("origin", self.issuer.as_str()),
            ];
            // The actions are relative to a page one segment below the issuer.
            let path = format!("/{}", action.trim_start_matches('/'));
            answer = connection
                .send(Method::POST, &path, &headers, Bytes::from(body))
                .await?;
        }
        Err("the login did not come to an end".into())
    }
}

/// One request, ready to be sent.
pub struct Prepared {
    /// `Authorization`, where the method has one.
    pub authorization: Option<String>,
    /// The form.
    pub body: Bytes,
}

impl RegisteredClient {
    /// The client's identifier.
    pub fn client_id(&self) -> &str {
        &self.client_id
    }

    fn prepare(&self, issuer: &str, form: &str, now: u64) -> Result<Prepared, Failure> {
        let secret = || self.secret.as_deref().ok_or("the client has no secret");
        Ok(match self.method {
            "client_secret_basic" => {
                // Both are URL-safe: the form encoding of RFC 6749 section 2.3.1 changes nothing.
                let pair = base64(format!("{}:{}", self.client_id, secret()?).as_bytes());
                Prepared {
                    authorization: Some(format!("Basic {pair}")),
                    body: Bytes::from(form.to_owned()),
                }
            }
            "client_secret_post" => {
                let body = format!(
                    "{form}&client_id={}&client_secret={}",
                    self.client_id,
                    secret()?
                );
                Prepared {
                    authorization: None,
                    body: body.into(),
                }
            }
            "client_secret_jwt" | "private_key_jwt" => {
                let mut claims = Vec::new();
                json::Writer::new(&mut claims).object(|w| {
                    w.member("iss").string(&self.client_id);
                    w.member("sub").string(&self.client_id);
                    w.member("aud").string(issuer);
                    w.member("jti")
                        .string(&base64url::encode(&signet_crypto::random::bytes::<16>()));
                    w.member("iat").number(now);
                    w.member("exp").number(now + 290);
                });
                let mut assertion = Vec::new();
                self.signer.as_ref().ok_or("no signer")?.sign_into(
                    Typ::Jwt,
                    &claims,
                    &mut assertion,
                )?;
                let kind = "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer";
                let body = format!(
                    "{form}&client_assertion_type={kind}&client_assertion={}",
                    String::from_utf8(assertion)?
                );
                Prepared {
                    authorization: None,
                    body: body.into(),
                }
            }
            _ => Prepared {
                authorization: None,
                body: format!("{form}&client_id={}", self.client_id).into(),
            },
        })
    }
}

/// A request to `/authorize` with a fixed PKCE challenge: the verifier is [`VERIFIER`].
pub fn authorization_path(client_id: &str, redirect_uri: &str, more: &str) -> String {
    let challenge = base64url::encode(&signet_crypto::hash::sha256(VERIFIER.as_bytes()));
    let redirect = redirect_uri.replace(':', "%3A").replace('/', "%2F");
    format!(
        "/authorize?response_type=code&client_id={client_id}&redirect_uri={redirect}&scope=openid%20profile%20offline_access&state=s&nonce=n&code_challenge={challenge}&code_challenge_method=S256{more}"
    )
}

/// RFC 7636: 43 characters and more.
pub const VERIFIER: &str = "bench-verifier-bench-verifier-bench-verifier-bench";

/// `Location`, as text.
pub fn location(answer: &Answer) -> Option<String> {
    Some(answer.headers.get("location")?.to_str().ok()?.to_owned())
}

fn jwks(mut key: Jwk) -> Result<serde_json::Value, Failure> {
    key.kid = Some("bench".into());
    let mut text = Vec::new();
    json::Writer::new(&mut text).object(|w| {
        w.member("keys").array(|w| key.write(w));
    });
    Ok(serde_json::from_slice(&text)?)
}

/// The certificate's key, with the certificate beside it (RFC 8705 section 2.2.2).
fn certificate_jwks(chain: &str) -> Result<serde_json::Value, Failure> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let der = CertificateDer::pem_slice_iter(chain.as_bytes())
        .next()
        .ok_or("no certificate")??;
    let parsed = signet_crypto::certificate::ClientCertificate::parse(&der)?;
    // A P-256 SubjectPublicKeyInfo ends with the uncompressed point.
    let point = parsed
        .spki
        .get(parsed.spki.len().saturating_sub(64)..)
        .ok_or("no point")?;
    Ok(serde_json::json!({ "keys": [{
        "kty": "EC", "crv": "P-256", "kid": "bench",
        "x": base64url::encode(&point[..32]), "y": base64url::encode(&point[32..]),
        "x5c": [base64(&der)],
    }] }))
}

/// Base64 with padding: `Authorization: Basic` and `x5c`.
#[must_use]
pub fn base64(data: &[u8]) -> String {
    let mut text = base64url::encode(data).replace('-', "+").replace('_', "/");
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// A browser's cookies of one host.
#[derive(Default)]
pub struct Cookies(Vec<(String, String)>);

impl Cookies {
    fn read(&mut self, answer: &Answer) {
        let values = answer.headers.get_all("set-cookie").iter();
        self.take(values.filter_map(|value| value.to_str().ok()));
    }

    /// Keeps the cookies of `Set-Cookie` headers; an empty one is removed.
    pub fn take<'a>(&mut self, set: impl Iterator<Item = &'a str>) {
        for cookie in set {
            let pair = cookie.split(';').next().unwrap_or("");
            if let Some((name, value)) = pair.split_once('=') {
                self.0.retain(|(own, _)| own != name);
                if !value.is_empty() {
                    self.0.push((name.to_owned(), value.to_owned()));
                }
            }
        }
    }

    /// The value of `Cookie`.
    #[must_use]
    pub fn header(&self) -> String {
        self.0
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join("; ")
    }
}

/// Action and hidden fields of the first form of a page.
#[must_use]
pub fn form(page: &str) -> Option<(String, Vec<(String, String)>)> {
    let form = &page[page.find("<form")?..];
    let form = &form[..form.find("</form>")?];
    let attribute = |tag: &str, name: &str| {
        let rest = tag.split_once(&format!(" {name}=\""))?.1;
        Some(rest.split_once('"')?.0.replace("&amp;", "&"))
    };
    let fields = form
        .split("<input")
        .skip(1)
        .filter(|tag| tag.contains("type=\"hidden\""))
        .filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?)))
        .collect();
    Some((attribute(form, "action")?, fields))
}

/// `application/x-www-form-urlencoded`.
#[must_use]
pub fn encode(fields: &[(String, String)]) -> String {
    let escape = |text: &str| -> String {
        text.bytes()
            .map(|b| {
                if b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
                    char::from(b).to_string()
                } else {
                    format!("%{b:02X}")
                }
            })
            .collect()
    };
    fields
        .iter()
        .map(|(name, value)| format!("{}={}", escape(name), escape(value)))
        .collect::<Vec<_>>()
        .join("&")
}
