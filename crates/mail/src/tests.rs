//! Files, and SMTP against a small server of our own: plain, with TLS, and with STARTTLS that may
//! be missing.
use super::*;
use signet_crypto::certificate::DevelopmentCa;
use signet_http::tls::{Tls as ServerTls, TlsOptions};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

#[tokio::test]
async fn a_message_is_one_file_with_its_text() {
    let directory = tempfile::tempdir().unwrap();
    let mailer = Mailer::directory("Signet <no-reply@example.test>", directory.path()).unwrap();
    let token = "abc_-=".repeat(100);
    let text = format!("Your code is 123456\nhttps://localhost:8443/account/recover?token={token}");
    mailer
        .send(
            "alice@example.test",
            plain("Your code", &text),
            1_700_000_000_000,
        )
        .await
        .unwrap();
    let files: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(files.len(), 1);
    let path = files[0].as_ref().unwrap().path();
    assert_eq!(path.extension().unwrap(), "eml");
    let message = std::fs::read_to_string(path).unwrap();
    assert!(message.contains("123456"));
    assert!(message.contains(&format!("token={token}\r\n")), "{message}");
    assert!(message.contains("To: alice@example.test"));
}

#[tokio::test]
async fn a_message_of_two_parts_keeps_its_code_plain_in_every_language() {
    let directory = tempfile::tempdir().unwrap();
    let mailer = Mailer::directory("no-reply@example.test", directory.path()).unwrap();
    let content = Content {
        subject: "123456 هو رمز الدخول",
        text: "123456\n\nرمزك لتسجيل الدخول\n",
        html: Some("<p>123456</p><p>رمزك</p>"),
        picture: None,
    };
    mailer.send("a@example.test", content, 1).await.unwrap();
    let mut files = std::fs::read_dir(directory.path()).unwrap();
    let path = files.next().unwrap().unwrap().path();
    let message = std::fs::read_to_string(path).unwrap();
    assert!(message.contains("multipart/alternative"), "{message}");
    assert!(message.contains("\r\n123456\r\n"), "{message}");
    let (text, html) = (message.find("text/plain"), message.find("text/html"));
    assert!(text.is_some() && text < html, "{message}");
    let boundary = message.split("boundary=\"").nth(1).unwrap();
    let boundary = boundary.split('"').next().unwrap();
    assert!(!boundary.contains(|c: char| c.is_ascii_digit()));
}

fn plain<'a>(subject: &'a str, text: &'a str) -> Content<'a> {
    Content {
        subject,
        text,
        html: None,
        picture: None,
    }
}

#[tokio::test]
async fn a_picture_goes_along_beside_the_html_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let mailer = Mailer::directory("no-reply@example.test", directory.path()).unwrap();
    let mut content = Content {
        subject: "s",
        text: "t",
        html: Some("<img src=\"cid:logo\">"),
        picture: Some(Picture {
            media_type: "image/png",
            bytes: b"\x89PNG",
        }),
    };
    mailer.send("a@example.test", content, 1).await.unwrap();
    content.picture = None;
    mailer.send("a@example.test", content, 2).await.unwrap();
    let mut files: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let read = |at: usize| std::fs::read_to_string(&files[at]).unwrap();
    let (with, without) = (read(0), read(1));
    let related = with
        .find("multipart/related")
        .expect("the HTML and its picture");
    assert!(with.find("text/plain") < Some(related), "{with}");
    assert!(with.contains("Content-ID: <logo>"), "{with}");
    assert!(with.contains("Content-Disposition: inline"), "{with}");
    assert!(with.contains("Content-Type: image/png"), "{with}");
    assert!(!without.contains("image/png"), "{without}");
}

#[tokio::test]
async fn a_receiver_cannot_add_headers() {
    let directory = tempfile::tempdir().unwrap();
    let mailer = Mailer::directory("no-reply@example.test", directory.path()).unwrap();
    for to in ["a@b.test\r\nBcc: x@y.test", "a@b.test, x@y.test", "", "a"] {
        assert!(matches!(
            mailer.send(to, plain("s", "t"), 0).await,
            Err(MailError::To)
        ));
    }
}

#[test]
fn credentials_need_tls() {
    let options = SmtpOptions {
        host: "localhost".into(),
        port: None,
        security: SmtpSecurity::Plain,
        credentials: Some(("u".into(), Secret::new("p".into()))),
        trust: None,
    };
    assert!(matches!(
        Mailer::smtp("a@b.test", options),
        Err(MailError::Insecure)
    ));
}

/// What the small server offers.
#[derive(Clone, Copy, PartialEq)]
enum Offer {
    Nothing,
    StartTls,
    Tls,
}

/// What it heard: whether TLS was on when the message came, and every line.
#[derive(Debug, Default)]
struct Heard {
    encrypted: bool,
    lines: Vec<String>,
}

impl Heard {
    fn has(&self, start: &str) -> bool {
        self.lines.iter().any(|line| line.starts_with(start))
    }
}

/// Speaks SMTP (RFC 5321) until QUIT, the end, or STARTTLS; true: STARTTLS was answered.
async fn speak<S>(stream: &mut BufStream<S>, offer: Offer, heard: &mut Heard) -> bool
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut in_data = false;
    loop {
        let mut line = String::new();
        if !matches!(stream.read_line(&mut line).await, Ok(1..)) {
            return false;
        }
        let line = line.trim_end().to_owned();
        heard.lines.push(line.clone());
        let answer = match line.split(' ').next().unwrap_or_default() {
            "." if in_data => {
                in_data = false;
                "250 kept\r\n"
            }
            _ if in_data => continue,
            "EHLO" if offer == Offer::StartTls => "250-here\r\n250 STARTTLS\r\n",
            "EHLO" => "250-here\r\n250 AUTH PLAIN\r\n",
            "AUTH" => "235 welcome\r\n",
            "DATA" => {
                in_data = true;
                "354 go on\r\n"
            }
            "STARTTLS" if offer == Offer::StartTls => "220 go on\r\n",
            "STARTTLS" => "502 no\r\n",
            "QUIT" => "221 bye\r\n",
            _ => "250 fine\r\n",
        };
        if stream.write_all(answer.as_bytes()).await.is_err() || stream.flush().await.is_err() {
            return false;
        }
        match line.as_str() {
            "QUIT" => return false,
            "STARTTLS" if offer == Offer::StartTls => return true,
            _ => {}
        }
    }
}

async fn answer(stream: TcpStream, offer: Offer, acceptor: TlsAcceptor) -> Heard {
    const HELLO: &[u8] = b"220 here\r\n";
    let mut heard = Heard::default();
    if offer != Offer::Tls {
        let mut stream = BufStream::new(stream);
        stream.write_all(HELLO).await.unwrap();
        stream.flush().await.unwrap();
        if !speak(&mut stream, offer, &mut heard).await {
            return heard;
        }
        let Ok(stream) = acceptor.accept(stream.into_inner()).await else {
            return heard;
        };
        heard.encrypted = true;
        speak(&mut BufStream::new(stream), Offer::Nothing, &mut heard).await;
        return heard;
    }
    let Ok(stream) = acceptor.accept(stream).await else {
        return heard;
    };
    heard.encrypted = true;
    let mut stream = BufStream::new(stream);
    stream.write_all(HELLO).await.unwrap();
    stream.flush().await.unwrap();
    speak(&mut stream, offer, &mut heard).await;
    heard
}

/// Sends one message with `security` to a server that offers `offer`; what that heard.
async fn delivered(security: SmtpSecurity, offer: Offer, trusted: bool) -> Heard {
    let ca = DevelopmentCa::generate().unwrap();
    let (chain, key) = ca.issue_server(&["localhost".to_owned()]).unwrap();
    let options = TlsOptions {
        tls12: false,
        ask_for_certificate: false,
        client_roots: None,
    };
    let tls = ServerTls::new(chain.as_bytes(), key.expose().as_bytes(), &options).unwrap();
    let mut config = (**tls.config()).clone();
    config.alpn_protocols.clear();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        answer(stream, offer, acceptor).await
    });
    let mailer = Mailer::smtp(
        "Signet <no-reply@example.test>",
        SmtpOptions {
            host: "localhost".into(),
            port: Some(port),
            security,
            credentials: (security != SmtpSecurity::Plain)
                .then(|| ("signet".into(), Secret::new("smtp-password".into()))),
            trust: trusted.then(|| ca.cert_pem().into_bytes()),
        },
    )
    .unwrap();
    let content = plain("Your code", "123456\n");
    let sent = mailer.send("alice@example.test", content, 0).await;
    let heard = server.await.unwrap();
    assert_eq!(sent.is_ok(), is_whole(&heard), "{sent:?}: {heard:?}");
    heard
}

fn is_whole(heard: &Heard) -> bool {
    heard.has("MAIL FROM:<no-reply@example.test>")
        && heard.has("RCPT TO:<alice@example.test>")
        && heard.has("Subject: Your code")
        && heard.has("123456")
}

#[tokio::test]
async fn a_relay_on_this_machine_gets_the_message_in_the_clear_and_no_credentials() {
    let heard = delivered(SmtpSecurity::Plain, Offer::Nothing, false).await;
    assert!(is_whole(&heard) && !heard.has("AUTH"), "{heard:?}");
}

#[tokio::test]
async fn starttls_and_tls_send_credentials_and_message_encrypted() {
    for (security, offer) in [
        (SmtpSecurity::StartTls, Offer::StartTls),
        (SmtpSecurity::Tls, Offer::Tls),
    ] {
        let heard = delivered(security, offer, true).await;
        assert!(heard.encrypted && is_whole(&heard), "{heard:?}");
        assert!(heard.has("AUTH PLAIN"), "{heard:?}");
    }
}

#[tokio::test]
async fn a_server_without_starttls_gets_neither_credentials_nor_message() {
    let heard = delivered(SmtpSecurity::StartTls, Offer::Nothing, true).await;
    for start in ["AUTH", "MAIL", "DATA", "123456"] {
        assert!(!heard.has(start), "{heard:?}");
    }
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_gets_neither_credentials_nor_message() {
    for (security, offer) in [
        (SmtpSecurity::StartTls, Offer::StartTls),
        (SmtpSecurity::Tls, Offer::Tls),
    ] {
        let heard = delivered(security, offer, false).await;
        for start in ["AUTH", "MAIL", "DATA", "123456"] {
            assert!(!heard.has(start), "{heard:?}");
        }
    }
}

#[tokio::test]
async fn letters_in_a_folder_are_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let there = folder.path().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o755)).unwrap();
    for mails in [there, folder.path().join("new").join("mail")] {
        let mailer = Mailer::directory("a@example.test", &mails).unwrap();
        let sent = mailer.send("b@example.test", plain("s", "t"), 1);
        sent.await.unwrap();
        assert_eq!(mode(&mails), 0o700);
        let letter = std::fs::read_dir(&mails).unwrap().next().unwrap().unwrap();
        assert_eq!(mode(&letter.path()), 0o600);
    }
}
