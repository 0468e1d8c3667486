//! `signet serve` as a process: development mode, signals, reload, and what the command line asks
//! of it.

use std::{
    os::unix::fs::PermissionsExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::support::{Server, body, json, signet, signet_with, text};
use http::StatusCode;

#[tokio::test]
async fn a_second_start_keeps_everything() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let file = dev.data.join("dev.json");
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let first = std::fs::read(&file).unwrap();
    let token = dev.service_token().await;
    server.crash_and_restart(&dev).await;
    assert_eq!(std::fs::read(&file).unwrap(), first);
    let verified = verify(&dev, &token, &[]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stderr)
    );
    // The secrets rest hashed, and still work.
    dev.service_token().await;
    let log = server.log();
    for secret in ["service", "web"].map(|c| dev.credentials(c).1) {
        assert!(!log.contains(&secret), "a secret in the log");
    }
    assert!(!log.contains(&token), "a token in the log");
}

#[test]
fn development_mode_listens_on_loopback_only() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("d");
    let listen = "0.0.0.0:0";
    let output = signet(&[
        "serve",
        "--dev",
        "--listen",
        listen,
        "--data-dir",
        data.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("loopback only"));
    assert!(!data.exists(), "nothing was made");
}

#[tokio::test]
async fn a_port_that_is_taken_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let listen = dev.issuer.replace("https://localhost", "127.0.0.1");
    let other = dir.path().join("other");
    let output = signet(&[
        "serve",
        "--dev",
        "--listen",
        &listen,
        "--data-dir",
        other.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("cannot listen") && said.contains("--listen") && !said.contains("ARGS="),
        "{said}"
    );
}

#[tokio::test]
async fn a_second_server_on_one_data_directory_is_refused_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let kept = ["dev.json", "mtls.port", "server.pem", "sealing-keys.json"];
    let read = |name| std::fs::read(dev.data.join(name)).unwrap();
    let before = kept.map(read);
    let second = signet(&[
        "serve",
        "--dev",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        dev.dir(),
    ]);
    assert_eq!(second.status.code(), Some(2));
    assert!(text(&second.stderr).contains("in use by another process"));
    assert_eq!(kept.map(read), before);
    dev.service_token().await;
}

#[tokio::test]
async fn sigterm_finishes_and_exits_0() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    dev.service_token().await;
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    assert!(server.log().contains("stopped"));
}

fn verify(dev: &crate::support::Dev, token: &str, more: &[&str]) -> std::process::Output {
    let ca = dev.ca.to_str().unwrap();
    let mut arguments = vec![
        "token",
        "verify",
        "--json",
        "--issuer",
        &dev.issuer,
        "--ca-cert",
        ca,
    ];
    arguments.extend(more);
    arguments.push(token);
    signet(&arguments)
}

#[tokio::test]
async fn token_verify_answers_with_its_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let token = dev.service_token().await;
    let yes = verify(&dev, &token, &["--audience", &dev.issuer]);
    assert_eq!(yes.status.code(), Some(0), "{}", text(&yes.stderr));
    assert_eq!(json(&yes)["claims"]["sub"], "service");

    let (head, signature) = token.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { "B" } else { "A" };
    let forged = format!("{head}.{other}{}", &signature[1..]);
    for (token, more) in [
        (forged.as_str(), &[][..]),
        ("", &[]),
        ("x", &[]),
        ("-", &[]), // standard input, which is empty
        (&"a".repeat(100_000), &[]),
        (&token, &["--audience", "https://other"]),
        (&token, &["--type", "id"]),
        (&token, &["--type", "logout"]),
    ] {
        let no = verify(&dev, token, more);
        assert_eq!(no.status.code(), Some(1), "{more:?} {}", text(&no.stderr));
        assert_eq!(json(&no)["error"], "invalid_token");
        assert!(json(&no)["error_description"].is_string());
    }
    assert_eq!(
        verify(&dev, &token, &["--type", "any"]).status.code(),
        Some(0)
    );
    assert_eq!(
        verify(&dev, &token, &["--type", "cookie"]).status.code(),
        Some(2)
    );
    let unreachable = signet(&["token", "verify", "--issuer", "https://localhost:1", &token]);
    assert_eq!(unreachable.status.code(), Some(2));

    // With a file of keys nothing is fetched.
    let jwks = dev
        .client()
        .get(&format!("{}/jwks", dev.issuer), &[])
        .await
        .unwrap();
    let file = dir.path().join("jwks.json");
    std::fs::write(&file, &jwks.body).unwrap();
    let offline = |issuer: &str| {
        let file = file.to_str().unwrap();
        signet_with(
            &["token", "verify", "--jwks", file, "--issuer", issuer, "-"],
            &token,
        )
        .status
        .code()
    };
    assert_eq!(offline(&dev.issuer), Some(0));
    assert_eq!(offline("https://other.example"), Some(1));

    let inspected = signet(&["token", "inspect", "--json", &token]);
    assert_eq!(json(&inspected)["header"]["typ"], "at+jwt");
    assert_eq!(signet(&["token", "inspect", "junk"]).status.code(), Some(1));
}

#[tokio::test]
async fn sighup_reloads_clients_and_lifetimes_without_dropping_a_request() {
    let dir = tempfile::tempdir().unwrap();
    let issuer = "https://id.example";
    let secret = "0123456789abcdef0123456789abcdef";
    std::fs::write(dir.path().join("secret"), secret).unwrap();
    let file = dir.path().join("signet.toml");
    let write = |client: &str, lifetime: &str| {
        let text = format!(
            "issuer = \"{issuer}\"\ndata_dir = \"{}\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n\
             [keys]\nalgorithms = [\"ES256\", \"RS256\"]\n[lifetimes]\naccess_token = \"{lifetime}\"\n\
             [[clients]]\nclient_id = \"{client}\"\ngrant_types = [\"client_credentials\"]\nclient_secrets = [{{ file = \"secret\" }}]\n",
            dir.path().join("data").display()
        );
        std::fs::write(&file, text).unwrap();
    };
    write("one", "5m");
    let log = dir.path().join("log");
    let (mut server, port) = Server::configured(&file, &log);
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    let token = async |id: &str| {
        let form = crate::support::http_client::form(&[("grant_type", "client_credentials")]);
        let basic = format!(
            "Basic {}",
            crate::support::base64(format!("{id}:{secret}").as_bytes())
        );
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", basic.as_str()),
        ];
        let url = format!("http://127.0.0.1:{port}/token");
        client
            .send(http::Method::POST, &url, &headers, form.into())
            .await
            .unwrap()
    };
    assert_eq!(body(&token("one").await)["expires_in"], 300);
    assert_eq!(token("two").await.status, StatusCode::UNAUTHORIZED);

    write("two", "7m");
    server.signal("HUP");
    server.wait_for(|| text(&std::fs::read(&log).unwrap()).contains("reloaded the configuration"));
    assert_eq!(body(&token("two").await)["expires_in"], 420);
    assert_eq!(token("one").await.status, StatusCode::UNAUTHORIZED);

    // A file that is not good changes nothing.
    std::fs::write(&file, "isuer = 1\n").unwrap();
    server.signal("HUP");
    server.wait_for(|| text(&std::fs::read(&log).unwrap()).contains("nothing was changed"));
    assert_eq!(token("two").await.status, StatusCode::OK);
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
}

#[tokio::test]
async fn a_file_that_names_the_command_lines_client_neither_replaces_nor_drops_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    let write = |client: &str| {
        let text = format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n\
             [keys]\nalgorithms = [\"ES256\", \"RS256\"]\n[[clients]]\nclient_id = \"{client}\"\n\
             token_endpoint_auth_method = \"none\"\nredirect_uris = [\"https://app.example/callback\"]\n",
            dir.path().join("data").display()
        );
        std::fs::write(&file, text).unwrap();
    };
    write("app");
    let log = dir.path().join("log");
    let (mut server, port) = Server::configured(&file, &log);
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    // The refusal of a login by it; without it, there would be none to log in to.
    let log_in = async || {
        let url = format!("http://127.0.0.1:{port}/password-login");
        let headers = [("content-type", "application/json")];
        let body = "{\"username\":\"nobody\",\"password\":\"x\"}".into();
        let answer = client.send(http::Method::POST, &url, &headers, body).await;
        crate::support::body(&answer.unwrap())["error"].clone()
    };
    assert_eq!(log_in().await, "access_denied");
    let refusals = || {
        let log = text(&std::fs::read(&log).unwrap());
        log.matches("nothing was changed").count()
    };
    write("signet-cli");
    server.signal("HUP");
    server.wait_for(|| refusals() == 1);
    assert_eq!(log_in().await, "access_denied");
    let checked = signet(&["config", "check", file.to_str().unwrap()]);
    assert_eq!(checked.status.code(), Some(1));
    let said = text(&checked.stderr) + &text(&checked.stdout);
    assert!(said.contains("signet client set signet-cli"), "{said}");

    write("app");
    server.signal("HUP");
    server.wait_for(|| text(&std::fs::read(&log).unwrap()).contains("reloaded the configuration"));
    assert_eq!(log_in().await, "access_denied");
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
}

#[tokio::test]
async fn the_service_manager_hands_over_a_socket_and_hears_of_readiness() {
    use std::os::unix::net::UnixDatagram;
    let dir = tempfile::tempdir().unwrap();
    let notify = UnixDatagram::bind(dir.path().join("notify")).unwrap();
    notify
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    let file = dir.path().join("signet.toml");
    let data = dir.path().join("data");
    std::fs::write(
        &file,
        format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\", \"RS256\"]\n\
             [proxy]\ntrusted = [\"127.0.0.1\"]\n[[listeners]]\naddress = \"fd:0\"\nprotocol = \"http\"\n",
            data.display()
        ),
    )
    .unwrap();
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    // The shell puts the socket at descriptor 3 and names itself in LISTEN_PID before it becomes
    // the server.

    let script = format!(
        "export LISTEN_PID=$$ LISTEN_FDS=1 NOTIFY_SOCKET={}; exec {} serve --config {}",
        dir.path().join("notify").display(),
        crate::support::SIGNET,
        file.display()
    );

    let mut child = std::process::Command::new("sh")
        .args(["-c", &format!("exec 3<&0 0</dev/null; {script}")])
        .stdin(std::process::Stdio::from(std::os::fd::OwnedFd::from(
            socket,
        )))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut buffer = [0; 256];
    let size = notify.recv(&mut buffer).unwrap();
    assert!(buffer[..size].starts_with(b"READY=1"));
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    let ready = client
        .get(&format!("http://127.0.0.1:{port}/health/ready"), &[])
        .await
        .unwrap();
    assert_eq!(ready.status, StatusCode::OK);
    let pid = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-s", "TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    let size = notify.recv(&mut buffer).unwrap();
    assert!(buffer[..size].starts_with(b"STOPPING=1"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[tokio::test]
async fn sighup_puts_another_certificate_in_place() {
    use signet_crypto::certificate::DevelopmentCa;
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let certify = || {
        let ca = DevelopmentCa::generate().unwrap();
        let (chain, key) = ca.issue_server(&["localhost".to_owned()]).unwrap();
        std::fs::write(path("ca.pem"), ca.cert_pem()).unwrap();
        std::fs::write(path("chain.pem"), chain).unwrap();
        std::fs::write(path("key.pem"), key.expose()).unwrap();
        crate::support::http_client::HttpClient::new(&[path("ca.pem")]).unwrap()
    };
    let first = certify();
    let file = path("signet.toml");
    std::fs::write(
        &file,
        format!(
            "issuer = \"https://localhost\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\", \"RS256\"]\n\
             [tls]\ncertificate = \"chain.pem\"\nkey = \"key.pem\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\n",
            path("data").display()
        ),
    )
    .unwrap();
    let log = path("log");
    let (mut server, port) = Server::configured(&file, &log);
    let url = format!("https://localhost:{port}/health/ready");
    assert_eq!(first.get(&url, &[]).await.unwrap().status, StatusCode::OK);
    let second = certify();
    assert!(second.get(&url, &[]).await.is_err(), "not yet");
    server.signal("HUP");
    server.wait_for(|| text(&std::fs::read(&log).unwrap()).contains("reloaded the configuration"));
    assert_eq!(second.get(&url, &[]).await.unwrap().status, StatusCode::OK);
    // Who was here before resumes its session, and need not see a certificate again.
}

#[tokio::test]
async fn limits_of_guessing_and_a_line_for_each_request_come_from_the_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    std::fs::write(
        &file,
        format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\", \"RS256\"]\n\
             [guessing]\nper_address = 3\n[log]\nrequests = \"all\"\n\
             [[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n",
            dir.path().join("data").display()
        ),
    )
    .unwrap();
    let log = dir.path().join("log");
    let (mut server, port) = Server::configured(&file, &log);
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    let mut answers = Vec::new();
    for _ in 0..4 {
        let form = crate::support::http_client::form(&[
            ("grant_type", "client_credentials"),
            ("client_id", "nobody"),
            ("client_secret", "a-wrong-secret"),
        ]);
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let url = format!("http://127.0.0.1:{port}/token");
        let answer = client
            .send(http::Method::POST, &url, &headers, form.into())
            .await
            .unwrap();
        answers.push(answer.status.as_u16());
    }
    assert_eq!(answers, [401, 401, 401, 429]);

    let url = format!("http://127.0.0.1:{port}/jwks?a-query-string=1");
    client.get(&url, &[]).await.unwrap();
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
    let log = server.log();
    let line = log.lines().find(|l| l.contains("/jwks")).expect("a line");
    for part in ["\"status\":200", "\"request_id\"", "\"peer\":\"127.0.0.1\""] {
        assert!(line.contains(part), "{line}");
    }
    assert!(!log.contains("a-query-string"), "no query");
    assert!(!log.contains("a-wrong-secret"), "no secret");
}

#[tokio::test]
async fn the_first_token_of_the_readme_works_as_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (server, dev) = Server::dev(dir.path());
    std::os::unix::fs::symlink(&dev.data, dir.path().join(".signet")).unwrap();
    std::fs::create_dir_all(dir.path().join("target/release")).unwrap();
    std::os::unix::fs::symlink(
        crate::support::SIGNET,
        dir.path().join("target/release/signet"),
    )
    .unwrap();
    let readme = include_str!("../../../README.md");
    let section = readme.split("## A first token").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let script: String = section
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(|line| format!("{line}\n"))
        .collect();
    let script = script.replace("https://localhost:8443", &dev.issuer);
    let run = |script: &str| {
        std::process::Command::new("sh")
            .args(["-e", "-c", script])
            .current_dir(dir.path())
            .output()
            .unwrap()
    };
    let output = run(&script);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(
        out.contains("at+jwt") && out.contains("\"sub\": \"service\""),
        "{out}{err}"
    );

    // And the line that the server itself prints.
    let greeting = server.log();
    let line = greeting
        .lines()
        .find_map(|l| l.split_once("a first token"))
        .unwrap()
        .1;
    let output = run(line);
    assert_eq!(text(&output.stdout).trim().split('.').count(), 3, "{line}");
}

#[tokio::test]
async fn development_mode_greets_in_ten_lines_and_is_silent_about_its_keys() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    server.signal("TERM");
    server.end();
    let log = server.log();
    assert!(!log.contains("signing key"), "{log}");
    assert!(!log.contains("ansi"), "{log}");
    let greeting: Vec<&str> = log.lines().filter(|l| !l.starts_with('{')).collect();
    assert_eq!(greeting.len(), 10, "{greeting:#?}");
    let mtls = std::fs::read_to_string(dev.data.join("mtls.port")).unwrap();
    assert!(
        greeting
            .iter()
            .any(|l| l.ends_with(&format!(":{}", mtls.trim()))),
        "{greeting:#?}"
    );
    for secret in ["service", "web"].map(|c| dev.credentials(c).1) {
        assert!(!log.contains(&secret), "a secret in the log");
    }
}

#[tokio::test]
async fn a_token_of_the_development_server_is_one_command() {
    let dir = tempfile::tempdir().unwrap();
    let (_server, dev) = Server::dev(dir.path());
    let token = |arguments: &[&str]| {
        let mut all = vec!["dev", "token", "--data-dir", dev.dir()];
        all.extend(arguments);
        let output = signet(&all);
        (
            output.status.code(),
            text(&output.stdout).trim().to_owned(),
            text(&output.stderr),
        )
    };
    let claims = |token: &str| {
        let verified = verify(&dev, token, &[]);
        assert_eq!(
            verified.status.code(),
            Some(0),
            "{}",
            text(&verified.stderr)
        );
        json(&verified)["claims"].clone()
    };
    let (code, service, err) = token(&[]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(claims(&service)["sub"], "service");
    for client in ["web", "native"] {
        let (code, of_alice, err) = token(&["--client", client, "--scope", "openid"]);
        assert_eq!(code, Some(0), "{err}");
        let claims = claims(&of_alice);
        assert_eq!(
            (&claims["client_id"], &claims["scope"]),
            (&client.into(), &"openid".into())
        );
        assert_ne!(claims["sub"], client);
    }
    // For the resource that the greeting's gate stands before.
    let resource = "https://orders.example.com";
    let (_, ordered, _) = token(&["--client", "native", "--resource", resource]);
    assert_eq!(claims(&ordered)["aud"], resource);
    // What is refused is refused in words.
    let (code, _, err) = token(&["--client", "service", "--scope", "nothing:here"]);
    assert_eq!(code, Some(1), "{err}");
    let (code, _, _) = token(&["--user", "alice"]);
    assert_eq!(code, Some(2));
    let shown = signet(&["dev", "show", "--json", "--data-dir", dev.dir()]);
    assert_eq!(json(&shown), dev.json);
    let table = signet(&["dev", "show", "--data-dir", dev.dir()]);
    assert!(text(&table.stdout).contains("clients.service.client_secret"));
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_written_names_the_option() {
    // Root may write everywhere; a file in the way refuses everybody.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = signet(&[
        "serve",
        "--dev",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        file.join("below").to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--data-dir"),
        "{}",
        text(&output.stderr)
    );
}

#[tokio::test]
async fn sigterm_under_load_loses_no_request_that_was_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let (mut server, dev) = Server::dev(dir.path());
    let ended = Arc::new(AtomicBool::new(false));
    let under_load = Arc::new(tokio::sync::Semaphore::new(0));
    let askers: Vec<_> = (0..8)
        .map(|_| {
            let (dev, ended) = (dev.clone(), ended.clone());
            let under_load = under_load.clone();
            tokio::spawn(async move {
                let (url, client) = (format!("{}/jwks", dev.issuer), dev.client());
                while !ended.load(Ordering::SeqCst) {
                    match client.get(&url, &[]).await {
                        Ok(answer) => {
                            assert_eq!(answer.status, StatusCode::OK);
                            under_load.add_permits(1);
                        }
                        // Nobody was there, or the handshake did not end: it was never accepted.
                        Err(e) if e.contains("os error") || e.contains("handshake") => {}
                        Err(e) => panic!("accepted and lost: {e}"),
                    }
                }
            })
        })
        .collect();
    // There is load once some of each asker's could have been answered.
    drop(under_load.acquire_many(64).await.unwrap());
    server.signal("TERM");
    let code = tokio::task::spawn_blocking(move || server.end()).await;
    assert_eq!(code.unwrap(), Some(0));
    ended.store(true, Ordering::SeqCst);
    for asker in askers {
        asker.await.unwrap();
    }
}

#[tokio::test]
async fn behind_a_proxy_the_aliases_name_its_entrance_for_certificates() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    std::fs::write(
        &file,
        format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[keys]\nalgorithms = [\"ES256\", \"RS256\"]\n\
             [proxy]\ntrusted = [\"127.0.0.1\"]\nclient_certificate_header = \"client-cert\"\n\
             client_certificate_url = \"https://mtls.id.example\"\n\
             [[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n",
            dir.path().join("data").display()
        ),
    )
    .unwrap();
    let log = dir.path().join("log");
    let (_server, port) = Server::configured(&file, &log);
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    let url = format!("http://127.0.0.1:{port}/.well-known/openid-configuration");
    let metadata = body(&client.get(&url, &[]).await.unwrap());
    assert_eq!(metadata["token_endpoint"], "https://id.example/token");
    assert_eq!(
        metadata["mtls_endpoint_aliases"]["token_endpoint"],
        "https://mtls.id.example/token"
    );
}

#[tokio::test]
async fn declared_providers_and_a_clients_brand_are_on_its_login_page_from_the_start_and_after_a_reload()
 {
    let dir = tempfile::tempdir().unwrap();
    let secret = "0123456789abcdef0123456789abcdef";
    std::fs::write(dir.path().join("secret"), secret).unwrap();
    let file = dir.path().join("signet.toml");
    let write = |label: &str| {
        let text = format!(
            "issuer = \"https://id.example\"\ndata_dir = \"{}\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n\
             [keys]\nalgorithms = [\"ES256\", \"RS256\"]\n[protocol]\nlocal_login = false\n\
             [brand]\nname = \"The Realm\"\n[brand.clients.shop]\nname = \"The Shop\"\n\
             [[clients]]\nclient_id = \"shop\"\ntoken_endpoint_auth_method = \"none\"\nredirect_uris = [\"https://shop.example/back\"]\nscope = [\"openid\"]\n\
             [[clients]]\nclient_id = \"ops\"\ngrant_types = [\"client_credentials\"]\nscope = [\"signet:admin\"]\nclient_secrets = [{{ file = \"secret\" }}]\n\
             [[providers]]\nname = \"corp\"\nlabel = \"{label}\"\nissuer = \"https://corp.example\"\nprotocol = \"oauth2\"\nclient_id = \"us\"\n\
             client_secret = {{ file = \"secret\" }}\nauthorization_endpoint = \"https://corp.example/authorize\"\n\
             token_endpoint = \"https://corp.example/token\"\nuserinfo_endpoint = \"https://corp.example/user\"\nsubject_claim = \"id\"\n\
             [[providers]]\nname = \"hub\"\npreset = \"gitlab\"\nclient_id = \"us\"\nclient_secret = {{ file = \"secret\" }}\n",
            dir.path().join("data").display()
        );
        std::fs::write(&file, text).unwrap();
    };
    write("Corporate account");
    let log = dir.path().join("log");
    let (mut server, port) = Server::configured(&file, &log);
    let client = crate::support::http_client::HttpClient::new(&[]).unwrap();
    let base = format!("http://127.0.0.1:{port}");
    let page = async |path: &str| {
        let answer = client.get(&format!("{base}{path}"), &[]).await.unwrap();
        assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.headers);
        text(&answer.body)
    };
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let login = format!(
        "/authorize?response_type=code&client_id=shop&scope=openid&redirect_uri=https%3A%2F%2Fshop.example%2Fback&code_challenge={challenge}&code_challenge_method=S256"
    );
    let shown = page(&login).await;
    assert!(shown.contains("Corporate account"), "{shown}");
    assert!(
        shown.contains("The Shop") && !shown.contains("The Realm"),
        "{shown}"
    );
    assert!(!shown.contains("type=\"password\""), "{shown}");
    // What no client asked for is the realm's.
    let (nowhere, token_url) = (format!("{base}/nowhere"), format!("{base}/token"));
    let nowhere = client.get(&nowhere, &[("accept", "text/html")]);
    assert!(text(&nowhere.await.unwrap().body).contains("The Realm"));

    let basic = crate::support::basic("ops", secret);
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("authorization", basic.as_str()),
    ];
    let form = crate::support::http_client::form(&[
        ("grant_type", "client_credentials"),
        ("scope", "signet:admin"),
    ]);
    let token = client.send(http::Method::POST, &token_url, &headers, form.into());
    let bearer = body(&token.await.unwrap())["access_token"]
        .as_str()
        .map(|t| format!("Bearer {t}"));
    let bearer = bearer.unwrap();
    let of_admin = [("authorization", bearer.as_str())];
    let url = format!("{base}/admin/v1/providers/corp");
    let listed = body(&client.get(&url, &of_admin).await.unwrap());
    assert_eq!(listed["label"], "Corporate account", "{listed}");
    assert!(!listed.to_string().contains(secret));
    let removed = client.send(http::Method::DELETE, &url, &of_admin, Vec::new().into());
    let removed = text(&removed.await.unwrap().body);
    assert!(removed.contains("declared_in_configuration"), "{removed}");

    write("Head office");
    server.signal("HUP");
    server.wait_for(|| text(&std::fs::read(&log).unwrap()).contains("reloaded the configuration"));
    let shown = page(&login).await;
    assert!(
        shown.contains("Head office") && !shown.contains("Corporate account"),
        "{shown}"
    );
    server.signal("TERM");
    assert_eq!(server.end(), Some(0));
}

#[tokio::test]
async fn another_issuer_over_the_same_store_is_said_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("signet.toml");
    let start = |issuer: &str, log: &str| {
        let text = format!(
            "issuer = \"{issuer}\"\ndata_dir = \"{}\"\n[[listeners]]\naddress = \"127.0.0.1:0\"\nprotocol = \"http\"\n",
            dir.path().join("data").display()
        );
        std::fs::write(&file, text).unwrap();
        let log = dir.path().join(log);
        let (mut server, _) = Server::configured(&file, &log);
        server.signal("TERM");
        server.end();
        text_of(&log).matches("changed the issuer").count()
    };
    assert_eq!(start("https://one.example", "first"), 0);
    assert_eq!(start("https://one.example", "same"), 0);
    assert_eq!(start("https://other.example", "other"), 1);
    assert_eq!(start("https://other.example", "again"), 0);
}

fn text_of(file: &std::path::Path) -> String {
    text(&std::fs::read(file).unwrap())
}
