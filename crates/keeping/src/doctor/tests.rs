//! Each fault is planted, and its row seen.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use clap::Parser;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use signet_crypto::certificate::DevelopmentCa;
use signet_crypto::private_file;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::answer::{Asked, ahead, of_answers, of_clocks};
use super::machine::{of_files, of_space};
use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    doctor: Doctor,
}

/// A server that is not there: its configuration, its authority, and what answers for it.
struct Scene {
    folder: tempfile::TempDir,
    ca: DevelopmentCa,
    /// What the configuration file says besides.
    more: String,
    issuer: String,
}

/// What answers at the issuer's address.
#[derive(Clone)]
struct Answers {
    /// The issuer that it says it is.
    issuer: String,
    /// Seconds by which its clock is ahead.
    ahead: i64,
    health: &'static str,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let ca = DevelopmentCa::generate().expect("an authority");
        let file = folder.path().join("ca.pem");
        fs::write(&file, ca.cert_pem()).expect("is written");
        private_file::directory(&folder.path().join("data")).expect("is made");
        Scene {
            folder,
            ca,
            more: String::new(),
            issuer: String::new(),
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Answers with a certificate for these names.
    async fn answered(mut self, names: &[&str], answers: impl FnOnce(&str) -> Answers) -> Scene {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let (chain, key) = self.ca.issue_server(&names).expect("a certificate");
        self.issuer = serve(chain.as_bytes(), key.expose().as_bytes(), answers).await;
        self
    }

    /// As it should be.
    async fn healthy() -> Scene {
        Scene::new().answered(&["localhost"], good).await
    }

    async fn rows(&self, further: &[&str]) -> Vec<(&'static str, Finding)> {
        let config = self.folder.path().join("signet.toml");
        let text = format!(
            "issuer = \"{}\"\ndata_dir = \"data\"\n[[listeners]]\naddress = \"127.0.0.1:8080\"\nprotocol = \"http\"\n{}",
            self.issuer, self.more
        );
        fs::write(&config, text).expect("is written");
        let mut arguments = vec!["doctor", "--config", config.to_str().expect("a text")];
        arguments.extend(further);
        let doctor = Line::parse_from(arguments).doctor;
        let place = doctor.which.find(false).expect("is found");
        let subject = Subject::of(place, doctor.ca_cert.as_deref()).expect("is one");
        look(&Arc::new(subject)).await
    }

    /// The row of one check, the authority named.
    async fn row(&self, name: &str) -> Finding {
        let ca = self.folder.path().join("ca.pem");
        let rows = self
            .rows(&["--ca-cert", ca.to_str().expect("a text")])
            .await;
        named(&rows, name)
    }
}

fn named(rows: &[(&'static str, Finding)], name: &str) -> Finding {
    let row = rows.iter().find(|(check, _)| *check == name);
    row.expect("a row").1.clone()
}

fn good(issuer: &str) -> Answers {
    Answers {
        issuer: issuer.to_owned(),
        ahead: 0,
        health: "200 OK\r\n\r\nready",
    }
}

/// A date as answers have it.
fn date(ahead: i64) -> String {
    let now = UNIX_EPOCH.elapsed().expect("a time").as_secs();
    let now = i64::try_from(now).expect("a time") + ahead;
    let moment = jiff::Timestamp::from_second(now).expect("a time");
    let moment = moment.to_zoned(jiff::tz::TimeZone::UTC);
    moment.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

async fn serve(chain: &[u8], key: &[u8], answers: impl FnOnce(&str) -> Answers) -> String {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .expect("a chain");
    let key = PrivateKeyDer::from_pem_slice(key).expect("a key");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a configuration");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let issuer = format!("https://localhost:{port}");
    let answers = answers(&issuer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, answers) = (acceptor.clone(), answers.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut stream = BufReader::new(stream);
                let mut line = String::new();
                let _ = stream.read_line(&mut line).await;
                let mut rest = String::new();
                while stream.read_line(&mut rest).await.is_ok() && !rest.ends_with("\r\n\r\n") {
                    if rest.is_empty() || rest == "\r\n" {
                        break;
                    }
                }
                let (status, text) = match line.split(' ').nth(1).unwrap_or_default() {
                    "/.well-known/openid-configuration" => {
                        let said = serde_json::json!({ "issuer": answers.issuer });
                        ("200 OK", said.to_string())
                    }
                    "/health/ready" => {
                        let (status, text) = answers.health.split_once("\r\n\r\n").expect("a text");
                        (status, text.to_owned())
                    }
                    _ => ("404 Not Found", String::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nDate: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                    date(answers.ahead),
                    text.len()
                );
                let _ = stream.get_mut().write_all(head.as_bytes()).await;
                let _ = stream.get_mut().shutdown().await;
            });
        }
    });
    issuer
}

fn says(finding: &Finding, state: State, found: &str, mend: &str) {
    assert_eq!(finding.state, state, "{finding:?}");
    assert!(finding.found.contains(found), "{finding:?}");
    let text = finding.mend.as_deref().unwrap_or_default();
    assert!(text.contains(mend), "{finding:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_right_is_ok() {
    let mut scene = Scene::healthy().await;
    scene.more = "[mail]\nfrom = \"a@b.test\"\ndirectory = \"mail\"\n".to_owned();
    let ca = scene.folder.path().join("ca.pem");
    let rows = scene
        .rows(&["--ca-cert", ca.to_str().expect("a text")])
        .await;
    let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    let checks: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    assert_eq!(names, checks);
    for (name, finding) in &rows {
        // What the machine of the test has is its own.
        if !["disk", "limits", "store"].contains(name) {
            assert_eq!(finding.state, State::Ok, "{name}: {finding:?}");
        }
    }
    says(
        &named(&rows, "store"),
        State::Warning,
        "no signet.db yet",
        "first start",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_without_an_address() {
    let mut scene = Scene::new();
    scene.issuer = "https://nowhere.invalid".to_owned();
    says(
        &scene.row("dns").await,
        State::Wrong,
        "nowhere.invalid",
        "A or AAAA",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_for_another_name_from_another_authority_or_past_its_end() {
    let scene = Scene::new().answered(&["other.example"], good).await;
    says(
        &scene.row("tls").await,
        State::Wrong,
        "not for localhost",
        "names localhost",
    );

    let scene = Scene::healthy().await;
    let stranger = Scene::new();
    fs::copy(
        stranger.folder.path().join("ca.pem"),
        scene.folder.path().join("ca.pem"),
    )
    .expect("is copied");
    says(
        &scene.row("tls").await,
        State::Wrong,
        "does not know",
        "--ca-cert",
    );

    let mut scene = Scene::new();
    let key = rcgen::KeyPair::generate().expect("a key");
    let mut parameters =
        rcgen::CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    parameters.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let certificate = parameters.self_signed(&key).expect("a certificate");
    fs::write(scene.folder.path().join("ca.pem"), certificate.pem()).expect("is written");
    scene.issuer = serve(
        certificate.pem().as_bytes(),
        key.serialize_pem().as_bytes(),
        good,
    )
    .await;
    says(
        &scene.row("tls").await,
        State::Wrong,
        "has expired",
        "renew",
    );

    // One that ends soon still holds.
    let (chain, _) = Scene::new()
        .ca
        .issue_server(&["localhost".to_owned()])
        .expect("a certificate");
    let leaf = CertificateDer::from_pem_slice(chain.as_bytes()).expect("a certificate");
    let parsed = signet_crypto::certificate::ClientCertificate::parse(&leaf).expect("is read");
    let soon = parsed.not_after - 3 * 86_400;
    says(
        &network::names("localhost", &leaf, soon),
        State::Warning,
        "3 days",
        "renew",
    );
    let over = network::names("localhost", &leaf, parsed.not_after + 1);
    says(&over, State::Wrong, "has expired", "renew");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_answers_and_somebody_else() {
    let mut scene = Scene::new();
    let taken = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = taken.local_addr().expect("an address").port();
    drop(taken);
    scene.issuer = format!("https://localhost:{port}");
    says(
        &scene.row("tls").await,
        State::Wrong,
        "nothing answers",
        "start the server",
    );
    says(
        &scene.row("issuer").await,
        State::Wrong,
        "",
        "start the server",
    );

    let other = |_: &str| good("https://other.example");
    let scene = Scene::new().answered(&["localhost"], other).await;
    says(
        &scene.row("issuer").await,
        State::Wrong,
        "other.example",
        "correct `issuer`",
    );

    for (health, state, words) in [
        (
            "503 Service Unavailable\r\n\r\nthe store does not answer",
            State::Wrong,
            "store",
        ),
        (
            "200 OK\r\n\r\ndegraded: the disk is full",
            State::Warning,
            "disk",
        ),
        ("404 Not Found\r\n\r\n", State::Warning, "not passed on"),
    ] {
        let answers = |issuer: &str| Answers {
            health,
            ..good(issuer)
        };
        let scene = Scene::new().answered(&["localhost"], answers).await;
        says(&scene.row("issuer").await, state, words, "");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_wrong() {
    for (seconds, state) in [
        (3600, State::Wrong),
        (-3600, State::Wrong),
        (10, State::Warning),
    ] {
        let answers = |issuer: &str| Answers {
            ahead: seconds,
            ..good(issuer)
        };
        let scene = Scene::new().answered(&["localhost"], answers).await;
        says(
            &scene.row("clock").await,
            state,
            "this machine's clock",
            "set-ntp",
        );
    }
    assert_eq!(
        ahead("Fri, 27 Nov 2026 07:00:10 GMT", 1_795_762_800),
        Some(10)
    );
    assert_eq!(ahead("yesterday", 1), None);
    let found = of_clocks(&[("the issuer's answer", 0), ("the database", -40)]);
    says(
        &found,
        State::Wrong,
        "the database is 40 s behind",
        "set-ntp",
    );
    says(&of_clocks(&[]), State::Warning, "no other clock", "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_that_anybody_can_be() {
    let mut scene = Scene::healthy().await;
    scene.more = "[proxy]\ntrusted = [\"127.0.0.1\"]\n".to_owned();
    says(
        &scene.row("proxy").await,
        State::Warning,
        "every program",
        "proxy.secret_file",
    );
    let asked = |plain, forged| of_answers("meaning", &Asked { plain, forged });
    says(
        &asked(true, true),
        State::Wrong,
        "taken for this machine",
        "proxy.trusted",
    );
    says(
        &asked(false, true),
        State::Wrong,
        "is believed",
        "overwrite",
    );
    assert_eq!(asked(false, false).state, State::Ok);
}

/// A mail server that offers nothing.
async fn smtp_without_tls() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.write_all(b"220 mail.test\r\n").await;
                let mut buffer = [0; 256];
                while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {
                    let _ = stream.write_all(b"250 mail.test\r\n").await;
                }
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_server_that_is_gone_or_has_no_tls() {
    let mut scene = Scene::healthy().await;
    says(
        &scene.row("mail").await,
        State::Warning,
        "no mail is configured",
        "[mail]",
    );
    let mail = |port: u16| {
        format!(
            "[mail]\nfrom = \"a@b.test\"\n[mail.smtp]\nhost = \"localhost\"\nport = {port}\nsecurity = \"starttls\"\n"
        )
    };
    scene.more = mail(smtp_without_tls().await);
    says(
        &scene.row("mail").await,
        State::Wrong,
        "localhost",
        "security",
    );
    scene.more = mail(1);
    says(
        &scene.row("mail").await,
        State::Wrong,
        "localhost",
        "host, port",
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_is_none_or_of_a_later_version() {
    let scene = Scene::healthy().await;
    let database = scene.data().join("signet.db");
    let mut file = fs::File::create(&database).expect("is made");
    file.write_all(&[7; 8192]).expect("is written");
    private_file::restrict(&database).expect("is set");
    says(
        &scene.row("store").await,
        State::Wrong,
        "damaged or no database",
        "restore",
    );
    fs::remove_file(&database).expect("is removed");

    let options = signet_store::sqlite::Options::default();
    let store = signet_store::SqliteStore::open(&scene.data(), options).expect("opens");
    signet_store::Store::close(&store);
    drop(store);
    assert_eq!(scene.row("store").await.state, State::Ok);
    let set = |schema: u32| {
        use std::os::unix::fs::FileExt;
        let file = fs::File::options()
            .write(true)
            .open(&database)
            .expect("opens");
        file.write_all_at(&schema.to_be_bytes(), 60)
            .expect("is written");
    };
    let known = signet_store::sqlite::SCHEMA_VERSION;
    set(known + 2);
    says(
        &scene.row("store").await,
        State::Wrong,
        "schema",
        "later one",
    );
    set(known - 1);
    says(
        &scene.row("store").await,
        State::Warning,
        "the next start",
        "upgrade check",
    );
    fs::remove_file(&database).expect("is removed");

    let mut scene = Scene::healthy().await;
    scene.more = "[store]\nengine = \"postgres\"\nurl = \"postgres://signet@127.0.0.1:1/signet\"\n"
        .to_owned();
    says(&scene.row("store").await, State::Wrong, "", "[store]");
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_that_others_read() {
    let scene = Scene::healthy().await;
    let keys = scene.data().join("sealing-keys.json");
    private_file::create(&keys, b"{}").expect("is written");
    assert_eq!(scene.row("permissions").await.state, State::Ok);
    let open = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("is set");
    };
    open(&keys, 0o640);
    says(
        &scene.row("permissions").await,
        State::Wrong,
        "sealing-keys.json",
        "chmod 600",
    );
    open(&keys, 0o600);
    open(&scene.data(), 0o777);
    says(
        &scene.row("permissions").await,
        State::Wrong,
        "may write",
        "chmod 700",
    );
}

#[test]
fn too_little_space_and_too_few_files() {
    let here = Path::new("/var");
    says(
        &of_space(1 << 20, here),
        State::Wrong,
        "1 MiB",
        "audit.keep_for",
    );
    says(
        &of_space(500 << 20, here),
        State::Warning,
        "500 MiB",
        "make space",
    );
    assert_eq!(of_space(5 << 30, here).state, State::Ok);
    says(
        &of_files(Some(1024), 20_000, "the server"),
        State::Warning,
        "1024",
        "LimitNOFILE=20256",
    );
    assert_eq!(of_files(Some(65_536), 20_000, "it").state, State::Ok);
    assert_eq!(of_files(None, 20_000, "it").state, State::Ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_waits_does_not_keep_the_others() {
    let mut scene = Scene::new();
    // It takes connections, and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    scene.issuer = format!("https://localhost:{port}");
    let found = scene.row("tls").await;
    says(&found, State::Wrong, "no answer within 5 s", "");
    says(&scene.row("dns").await, State::Ok, "127.0.0.1", "");
}

#[test]
fn the_manual_has_every_check() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/backup.md");
    let page = fs::read_to_string(page).expect("the page");
    let rows = manual();
    assert!(page.contains(&rows), "docs/backup.md lacks\n{rows}");
}
