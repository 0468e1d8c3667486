//! Back-channel logout: sessions that an administrator ends, until every client has been told that
//! answers. One of the clients takes connections and never answers.

use std::{
    collections::HashSet,
    convert::Infallible,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Method, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use signet_crypto::{
    Algorithm,
    certificate::DevelopmentCa,
    hash::sha256,
    password::{self, Cost},
};
use signet_encoding::base64url;
use tokio::{
    net::{TcpListener, TcpStream},
    task::{JoinSet, LocalSet},
};
use tokio_rustls::TlsAcceptor;

use crate::client::{Connection, Failure};
use crate::load::flow::{self, Provider, RegisteredClient};
use crate::nodes::said;
use crate::process::Server;
use crate::report::record::{Cpu, Measure, Row, Unit};
use crate::report::summary::Summary;
use crate::run::{Options, Part, Run};

/// Logout.
pub const PART: Part = Part {
    name: "logout",
    title: "Back-channel logout: many sessions, and a client that hangs",
    plan,
    run,
};

const CLIENTS: usize = 100;
const PEOPLE: usize = 100;
/// Logins, and ends, that are under way at once.
const AT_ONCE: usize = 4;
/// Everybody's.
const PASSWORD: &str = "the benchmark knows it";
const REDIRECT: &str = "http://127.0.0.1:47999/callback";
/// Told in this time, or the run fails.
const LONGEST: Duration = Duration::from_secs(120);
/// What ten thousand sessions may take, milliseconds.
const GOAL_MS: f64 = 10_000.0;

fn sessions(options: &Options) -> usize {
    options.choose(500, 10_000)
}

fn plan(options: &Options) -> f64 {
    // Most of a login is its password's.
    15.0 + sessions(options) as f64 * 0.03
}

fn run(run: &mut Run) -> Result<(), Failure> {
    let count = sessions(&run.options);
    let clients = Clients::start()?;
    let server = Server::trusting(&clients.authority)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let rows = LocalSet::new().block_on(&runtime, measured(server, &clients, count))?;
    for row in rows {
        run.add(row);
    }
    run.progress.done(plan(&run.options));
    Ok(())
}

/// The applications: one server, each application has a path of its own.
struct Clients {
    authority: String,
    port: u16,
    /// The sessions of which they were notified.
    told: Arc<Mutex<HashSet<String>>>,
}

impl Clients {
    fn start() -> Result<Clients, Failure> {
        let ca = DevelopmentCa::generate()?;
        let (chain, key) = ca.issue_server(&["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        let chain = CertificateDer::pem_slice_iter(chain.as_bytes());
        let chain = chain.collect::<Result<Vec<_>, _>>()?;
        let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())?;
        let tls = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let told = Arc::default();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0)))?;
        let port = listener.local_addr()?.port();
        let heard = Arc::clone(&told);
        // They stay until the program ends.
        std::thread::spawn(move || {
            runtime.block_on(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(acceptor.clone(), stream, Arc::clone(&heard)));
                }
            });
        });
        Ok(Clients {
            authority: ca.cert_pem().to_owned(),
            port,
            told,
        })
    }

    /// Where an application receives its notices.
    fn uri(&self, number: usize) -> String {
        let path = if hangs(number) { "hangs" } else { "told" };
        format!("https://localhost:{}/{path}/{number}", self.port)
    }

    fn count(&self) -> usize {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

fn hangs(client: usize) -> bool {
    client == 0
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, told: Arc<Mutex<HashSet<String>>>) {
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let told = Arc::clone(&told);
        async move {
            if request.uri().path().starts_with("/hangs") {
                std::future::pending::<()>().await;
            }
            let body = request.into_body().collect().await;
            let body = body.map(http_body_util::Collected::to_bytes);
            let sid = body.ok().and_then(|body| sid(&body));
            let mut response = http::Response::new(Full::new(Bytes::new()));
            match sid {
                Some(sid) => {
                    told.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(sid);
                }
                None => *response.status_mut() = StatusCode::BAD_REQUEST,
            }
            Ok::<_, Infallible>(response)
        }
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// The session of a logout token. Its signature costs the application, not the server.
fn sid(body: &[u8]) -> Option<String> {
    let token = std::str::from_utf8(body).ok()?;
    let token = token.strip_prefix("logout_token=")?;
    let payload = base64url::decode(token.split('.').nth(1)?.as_bytes()).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&payload).ok()?;
    claims["sid"].as_str().map(str::to_owned)
}

async fn measured(server: Server, clients: &Clients, count: usize) -> Result<Vec<Row>, Failure> {
    let provider = Rc::new(Provider::of(server).await?);
    let mut registered = Vec::with_capacity(CLIENTS);
    for number in 0..CLIENTS {
        let metadata = serde_json::json!({
            "application_type": "native", "redirect_uris": [REDIRECT], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": "openid profile offline_access",
            "backchannel_logout_uri": clients.uri(number),
        });
        let client = provider.register("client_secret_basic", Algorithm::Es256, metadata);
        registered.push(client.await?);
    }
    import(&provider)?;
    let registered = Rc::new(registered);
    in_turns(count, {
        let (provider, registered) = (provider.clone(), registered.clone());
        move |number| {
            let (provider, registered) = (provider.clone(), registered.clone());
            async move {
                let client = &registered[client_of(number)];
                log_in(&provider, client, &name(number % PEOPLE)).await
            }
        }
    })
    .await?;
    provider.settled().await?;

    let expected = (0..count).filter(|number| !hangs(client_of(*number)));
    let expected = expected.count();
    let token = Rc::new(administrator(&provider).await?);
    let cpu = provider.cpu_us()?;
    let begun = Instant::now();
    in_turns(PEOPLE.min(count), {
        let provider = provider.clone();
        move |number| {
            let (provider, token) = (provider.clone(), token.clone());
            async move { end(&provider, &token, number).await }
        }
    })
    .await?;
    let ended = begun.elapsed();
    while clients.count() < expected {
        if begun.elapsed() > LONGEST {
            let told = clients.count();
            let seconds = LONGEST.as_secs();
            return Err(format!("{told} of {expected} were notified within {seconds} s").into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let told = begun.elapsed();
    let cpu = (provider.cpu_us()? - cpu) as f64 / expected as f64;

    let row = |what: &str, time: Duration| {
        let name = format!("{what}/{count} sessions/{CLIENTS} clients");
        let time = Summary::exact(time.as_secs_f64() * 1000.0);
        Row::new("logout", name, Unit::Milliseconds, time)
    };
    let mut last = row("every client told that answers", told);
    last.cpu = Some(Cpu {
        ours: cpu,
        floor: None,
    });
    if count == 10_000 {
        last = last.goal(Measure::Value, GOAL_MS);
    }
    Ok(vec![row("every session ended", ended), last])
}

/// Each person logs in once at one client, at all of them in their turn.
fn client_of(session: usize) -> usize {
    (session / PEOPLE + session) % CLIENTS
}

fn name(person: usize) -> String {
    format!("person{person}")
}

fn id(person: usize) -> String {
    base64url::encode(&sha256(name(person).as_bytes())[..16])
}

fn import(provider: &Provider) -> Result<(), Failure> {
    let hash = password::hash(PASSWORD.as_bytes(), Cost::default())?;
    let lines: String = (0..PEOPLE)
        .map(|person| {
            let line = serde_json::json!({ "id": id(person), "username": name(person),
                                           "password_hash": hash });
            format!("{line}\n")
        })
        .collect();
    let directory = provider.server.directory();
    let file = directory.join("people.jsonl");
    std::fs::write(&file, lines)?;
    let file = file.to_str().ok_or("a folder whose name is no text")?;
    said(directory, &["user", "import", file])?;
    Ok(())
}

/// Does something for every number, [`AT_ONCE`] at a time.
async fn in_turns<F>(count: usize, task: impl Fn(usize) -> F + 'static) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>> + 'static,
{
    let task = Rc::new(task);
    let mut lanes = JoinSet::new();
    for lane in 0..AT_ONCE {
        let task = task.clone();
        lanes.spawn_local(async move {
            for number in (lane..count).step_by(AT_ONCE) {
                // An error goes to another thread's kind of task: as text.
                let done = task(number).await;
                done.map_err(|failure| failure.to_string())?;
            }
            Ok::<_, String>(())
        });
    }
    while let Some(lane) = lanes.join_next().await {
        lane??;
    }
    Ok(())
}

async fn connect(provider: &Provider) -> Result<Connection, Failure> {
    provider.target()?.connect().await
}

/// Logs in and redeems the code: from then on the client is one of the session's.
async fn log_in(provider: &Provider, client: &RegisteredClient, who: &str) -> Result<(), Failure> {
    let mut connection = connect(provider).await?;
    let person = (who, PASSWORD);
    let done = provider.log_in_as(&mut connection, client.client_id(), REDIRECT, person);
    let (_, location) = done.await?;
    let code = location.split(['?', '&']);
    let code = code.filter_map(|pair| pair.strip_prefix("code=")).next();
    let code = code.ok_or("no code")?;
    let redirect = REDIRECT.replace(':', "%3A").replace('/', "%2F");
    let form = format!(
        "grant_type=authorization_code&code={code}&redirect_uri={redirect}&code_verifier={}",
        flow::VERIFIER
    );
    let request = provider.requests(client, &form, 1)?.pop();
    let request = request.ok_or("no request")?;
    let authorization = request.authorization.as_deref();
    let answer = connection.form("/token", authorization, request.body);
    let answer = answer.await?;
    if answer.status != StatusCode::OK {
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        return Err(format!("{}: {body}", answer.status).into());
    }
    Ok(())
}

/// An access token for the admin API.
async fn administrator(provider: &Provider) -> Result<String, Failure> {
    let client = &provider.developer["admin_client"];
    let text = |name: &str| client[name].as_str().ok_or("no administrator's client");
    let pair = format!("{}:{}", text("client_id")?, text("client_secret")?);
    let basic = format!("Basic {}", flow::base64(pair.as_bytes()));
    let form = Bytes::from_static(b"grant_type=client_credentials&scope=signet%3Aadmin");
    let mut connection = connect(provider).await?;
    let answer = connection.form("/token", Some(&basic), form).await?;
    let answer = answer.json()?;
    let token = answer["access_token"].as_str();
    token
        .map(str::to_owned)
        .ok_or_else(|| format!("no access_token: {answer}").into())
}

/// Ends everything of a person.
async fn end(provider: &Provider, token: &str, person: usize) -> Result<(), Failure> {
    let mut connection = connect(provider).await?;
    let path = format!("/admin/v1/users/{}/revoke", id(person));
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str())];
    let answer = connection.send(Method::POST, &path, &headers, Bytes::new());
    let answer = answer.await?;
    if !answer.status.is_success() {
        let body = String::from_utf8_lossy(&answer.body).into_owned();
        return Err(format!("{}: {body}", answer.status).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_sessions_are_a_hundred_of_each_client_and_person() {
        let mut pairs: Vec<_> = (0..10_000)
            .map(|session| (session % PEOPLE, client_of(session)))
            .collect();
        let hanging = pairs.iter().filter(|(_, client)| hangs(*client)).count();
        assert_eq!(hanging, 100);
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 10_000);
    }
}
