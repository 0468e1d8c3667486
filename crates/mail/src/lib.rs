//! Mail: by SMTP, or into a folder in development mode.
//!
//! A server without either has no [`Mailer`], and then what needs mail is not offered at all. There
//! is no fallback that would answer with what belongs into a mail (a code in a response is
//! everybody's code).
//!
//! A message is handed to SMTP in the background: how long a mail server takes must not tell an
//! unauthenticated caller whether an address has an account. What may wait is bounded; beyond that
//! a message is dropped with a log line, and the person asks again.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use lettre::message::header::{ContentTransferEncoding, ContentType, MIME_VERSION_1_0};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use signet_crypto::Secret;
use signet_encoding::base64url;

const SMTP_TIMEOUT: Duration = Duration::from_secs(20);

/// How the SMTP server is reached. Credentials are only ever sent over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpSecurity {
    /// TLS from the first byte (port 465).
    Tls,
    /// STARTTLS, required (port 587).
    StartTls,
    /// None: a relay on the same machine.
    Plain,
}

/// Where the SMTP server is, and who we are to it.
pub struct SmtpOptions {
    /// Host name; the certificate must be for it.
    pub host: String,
    /// None: 465, 587 or 25 by `security`.
    pub port: Option<u16>,
    /// TLS.
    pub security: SmtpSecurity,
    /// User name and password.
    pub credentials: Option<(String, Secret<String>)>,
    /// PEM of further authorities that the server's certificate may come from, beside the system's.
    pub trust: Option<Vec<u8>>,
}

/// Why a mailer could not be made, or a message not sent.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The operator's: the sender's address cannot be one.
    #[error("the sender is not an e-mail address")]
    From,
    /// The operator's: credentials would go over the wire in the clear.
    #[error("SMTP credentials need TLS")]
    Insecure,
    /// The SMTP parameters cannot be used.
    #[error("SMTP cannot be set up: {0}")]
    Smtp(String),
    /// The receiver's address cannot be one.
    #[error("the receiver is not an e-mail address")]
    To,
    /// The message could not be written or handed over.
    #[error("the message could not be sent: {0}")]
    Send(String),
}

enum Transport {
    Smtp(AsyncSmtpTransport<Tokio1Executor>),
    Directory(PathBuf),
}

/// What a message says.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// One line.
    pub subject: &'a str,
    /// The whole of it.
    pub text: &'a str,
    /// The same for programs that show HTML (RFC 2046 section 5.1.4). None: text alone.
    pub html: Option<&'a str>,
    /// What the HTML shows as `cid:` and [`PICTURE`], and the message carries (RFC 2392).
    pub picture: Option<Picture<'a>>,
}

/// The name of the picture of a message.
pub const PICTURE: &str = "logo";

/// A picture that a message carries.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Its media type.
    pub media_type: &'static str,
    /// The file.
    pub bytes: &'a [u8],
}

/// Whether this can be a sender: `Name <address>` or the address alone.
pub fn is_sender(text: &str) -> bool {
    text.parse::<Mailbox>().is_ok()
}

/// Sends messages from one address.
pub struct Mailer {
    from: Mailbox,
    transport: Transport,
}

impl Mailer {
    /// Through an SMTP server. `from`: `Name <address>` or the address alone.
    pub fn smtp(from: &str, options: SmtpOptions) -> Result<Mailer, MailError> {
        let from = from.parse().map_err(|_| MailError::From)?;
        if options.credentials.is_some() && options.security == SmtpSecurity::Plain {
            return Err(MailError::Insecure);
        }
        let parameters = || tls_parameters(&options);
        let (tls, port) = match options.security {
            SmtpSecurity::Tls => (Tls::Wrapper(parameters()?), 465),
            SmtpSecurity::StartTls => (Tls::Required(parameters()?), 587),
            SmtpSecurity::Plain => (Tls::None, 25),
        };
        let mut builder =
            AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(options.host.clone())
                .port(options.port.unwrap_or(port))
                .tls(tls)
                .timeout(Some(SMTP_TIMEOUT));
        if let Some((name, password)) = options.credentials {
            builder = builder.credentials(Credentials::new(name, password.expose().clone()));
        }
        Ok(Mailer {
            from,
            transport: Transport::Smtp(builder.build()),
        })
    }

    /// Into a folder, one `.eml` file a message: development mode and tests.
    pub fn directory(from: &str, directory: &Path) -> Result<Mailer, MailError> {
        private_directory(directory).map_err(|e| MailError::Send(e.to_string()))?;
        Ok(Mailer {
            from: from.parse().map_err(|_| MailError::From)?,
            transport: Transport::Directory(directory.to_owned()),
        })
    }

    /// Whether messages are files of this machine, which are there as soon as they are sent.
    pub fn is_at_hand(&self) -> bool {
        matches!(self.transport, Transport::Directory(_))
    }

    /// Whether messages could be sent: the SMTP server takes a connection, TLS and the credentials,
    /// and the folder is there. Sends nothing.
    ///
    /// # Errors
    /// [`MailError::Send`]: what it says.
    pub async fn reach(&self) -> Result<(), MailError> {
        let failed = |why: String| Err(MailError::Send(why));
        match &self.transport {
            Transport::Smtp(smtp) => match smtp.test_connection().await {
                Ok(true) => Ok(()),
                Ok(false) => failed("the server does not answer".to_owned()),
                Err(error) => failed(said(&error)),
            },
            Transport::Directory(directory) => match directory.is_dir() {
                true => Ok(()),
                false => failed("the folder is gone".to_owned()),
            },
        }
    }

    /// Sends: the SMTP server has the message when this returns, or the file is there. `now_ms`:
    /// Unix milliseconds, for the `Date` header.
    pub async fn send(&self, to: &str, content: Content<'_>, now_ms: u64) -> Result<(), MailError> {
        let to: Address = to.trim().parse().map_err(|_| MailError::To)?;
        let id = base64url::encode(&signet_crypto::random::bytes::<12>());
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(content.subject)
            .date(UNIX_EPOCH + Duration::from_millis(now_ms))
            .message_id(Some(format!(
                "<{now_ms}.{id}@{}>",
                self.from.email.domain()
            )))
            .header(MIME_VERSION_1_0);
        let text = SinglePart::builder()
            .header(ContentType::TEXT_PLAIN)
            .body(body_of(content.text));
        let message = match content.html {
            None => message.singlepart(text),
            // The plain part first: the last that a program can show is the one that it shows.
            Some(html) => {
                let both = MultiPart::alternative()
                    .boundary(boundary())
                    .singlepart(text);
                let html = SinglePart::builder()
                    .header(ContentType::TEXT_HTML)
                    .body(encoded(html));
                message.multipart(match content.picture.and_then(inline) {
                    None => both.singlepart(html),
                    Some(picture) => both.multipart(
                        MultiPart::related()
                            .boundary(boundary())
                            .singlepart(html)
                            .singlepart(picture),
                    ),
                })
            }
        };
        let message = message.map_err(|e| MailError::Send(e.to_string()))?;
        match &self.transport {
            Transport::Smtp(smtp) => {
                let sent = smtp.send(message).await;
                sent.map(drop).map_err(|e| MailError::Send(e.to_string()))
            }
            Transport::Directory(directory) => {
                // Numbers of equal length sort by time; written aside first, so that a reader never
                // sees half a message.
                let target = directory.join(format!("{now_ms:015}-{id}.eml"));
                let aside = directory.join(format!(".{id}.part"));
                let bytes = message.formatted();
                let written = tokio::task::spawn_blocking(move || {
                    write_private(&aside, &bytes)?;
                    std::fs::rename(&aside, &target)
                });
                match written.await {
                    Ok(Ok(())) => Ok(()),
                    Ok(Err(error)) => Err(MailError::Send(error.to_string())),
                    Err(error) => Err(MailError::Send(error.to_string())),
                }
            }
        }
    }
}

/// Letters carry codes and links: nobody else of this machine reads them. A folder that exists
/// loses what others may do in it.
fn private_directory(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    std::io::Write::write_all(&mut file, bytes)
}

/// An error with what is behind it.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    text
}

fn tls_parameters(options: &SmtpOptions) -> Result<TlsParameters, MailError> {
    let failed = |e: lettre::transport::smtp::Error| MailError::Smtp(e.to_string());
    let mut builder = TlsParameters::builder(options.host.clone());
    if let Some(pem) = &options.trust {
        builder = builder.add_root_certificate(Certificate::from_pem(pem).map_err(failed)?);
    }
    builder.build_rustls().map_err(failed)
}

/// A picture within a message. None: its media type is none.
fn inline(picture: Picture<'_>) -> Option<SinglePart> {
    let media_type = ContentType::parse(picture.media_type).ok()?;
    let part = Attachment::new_inline(PICTURE.to_owned());
    Some(part.body(picture.bytes.to_vec(), media_type))
}

/// Letters alone: no program that looks for a code in a message finds one in its boundary.
fn boundary() -> String {
    let letter = |byte: u8| char::from(b'a' + byte % 26);
    let random: [u8; 24] = signet_crypto::random::bytes();
    random.into_iter().map(letter).collect()
}

/// Quoted-printable, whatever the language: digits and links stay what they are.
fn encoded(text: &str) -> Body {
    let encoding = ContentTransferEncoding::QuotedPrintable;
    // Every text can be written so.
    Body::new_with_encoding(text.to_owned(), encoding).unwrap_or_else(Body::new)
}

/// Plain ASCII goes out as it is, so that links stay in one piece (RFC 5322 section 2.1.1: lines of
/// at most 998 bytes); lettre by itself would break lines at 76. Anything else is encoded.
fn body_of(text: &str) -> Body {
    let plain = text
        .lines()
        .all(|line| line.len() <= 998 && line.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~')));
    if !plain {
        return encoded(text);
    }
    let mut bytes = Vec::with_capacity(text.len() + 32);
    for line in text.lines() {
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    Body::dangerous_pre_encoded(bytes, ContentTransferEncoding::SevenBit)
}

#[cfg(test)]
mod tests;
