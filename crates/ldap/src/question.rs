//! One question over a connection: find the entry, bind as it.

use std::collections::BTreeMap;

use ldap3::{
    DerefAliases, Ldap, LdapConnAsync, LdapConnSettings, LdapError as Protocol, Scope, SearchEntry,
    SearchOptions, StdStream, ldap_escape, parse_filter,
};
use signet_crypto::Secret;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::LdapError;

/// Most bytes that are read of a server for one question.
pub const MAX_BYTES: u64 = 1024 * 1024;
/// Most attributes of an entry that are kept; the rest is left out.
pub const MAX_ATTRIBUTES: usize = 128;
/// Most values of one attribute that are kept; the rest is left out.
pub const MAX_VALUES: usize = 512;
/// The longest value that is kept, in bytes; a longer one (a photo) is left out.
pub const MAX_VALUE_BYTES: usize = 4096;

/// Where in a filter what was typed is put.
const LOGIN: &str = "{login}";
/// RFC 4511 appendix A.1.
const INVALID_CREDENTIALS: u32 = 49;
/// More entries match than were asked for.
const SIZE_LIMIT: u32 = 4;
/// A server that refers elsewhere for all of it.
const NO_SUCH_OBJECT: u32 = 32;

/// See [`ask`](crate::ask).
pub struct Question {
    /// Whom this server binds as before it searches, and with which password. None: as nobody.
    pub bind: Option<(String, Secret<String>)>,
    /// Where the entries are, and below it.
    pub base: String,
    /// Which is meant: a filter (RFC 4515) with `{login}`.
    pub filter: String,
    /// What was typed; it is escaped in the filter.
    pub login: String,
    /// What was typed as the password.
    pub password: Secret<String>,
}

/// What a directory says of somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its distinguished name.
    pub dn: String,
    /// Texts, by the attribute's name as the server writes it. Values that are no UTF-8 are left
    /// out.
    pub texts: BTreeMap<String, Vec<String>>,
    /// Values that are no UTF-8, likewise.
    pub bytes: BTreeMap<String, Vec<Vec<u8>>>,
}

impl Entry {
    fn of(entry: SearchEntry) -> Entry {
        Entry {
            dn: entry.dn,
            texts: kept(entry.attrs),
            bytes: kept(entry.bin_attrs),
        }
    }

    /// The first text of an attribute, whatever the case of its name (RFC 4512 section 2.5).
    pub fn text(&self, name: &str) -> Option<&str> {
        let mut all = self.texts.iter();
        let (_, values) = all.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        values.first().map(String::as_str)
    }
}

fn kept<V: AsRef<[u8]>>(
    attributes: impl IntoIterator<Item = (String, Vec<V>)>,
) -> BTreeMap<String, Vec<V>> {
    let short = |value: &V| value.as_ref().len() <= MAX_VALUE_BYTES;
    let named = attributes.into_iter();
    let named = named.map(|(name, values)| {
        let values = values.into_iter().filter(short).take(MAX_VALUES);
        (name, values.collect())
    });
    let mut all: BTreeMap<String, Vec<V>> = named.collect();
    while all.len() > MAX_ATTRIBUTES {
        all.pop_last();
    }
    all
}

/// Asks over a stream that is safe. The library gets a pair of sockets of this machine: so what it
/// reads is counted, and a connection ends with the question. It runs in a task of its own, where
/// it may come upon something that it did not expect.
pub(crate) async fn over<S>(stream: S, question: Question) -> Result<Option<Entry>, LdapError>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let asked = tokio::spawn(driven(stream, question));
    // Whoever gives up waiting ends the task with its connection.
    let asked = Ends(asked);
    asked.await
}

struct Ends(tokio::task::JoinHandle<Result<Option<Entry>, LdapError>>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Future for Ends {
    type Output = Result<Option<Entry>, LdapError>;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        let ended = std::pin::Pin::new(&mut self.0).poll(context);
        ended.map(|ended| match ended {
            Ok(answer) => answer,
            Err(_) => Err(LdapError::Connection("the answer is no LDAP".to_owned())),
        })
    }
}

async fn driven<S>(stream: S, question: Question) -> Result<Option<Entry>, LdapError>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let broken = |error: std::io::Error| LdapError::Connection(error.to_string());
    let (ours, theirs) = UnixStream::pair().map_err(broken)?;
    let theirs = theirs.into_std().map_err(broken)?;
    let settings = LdapConnSettings::new().set_std_stream(StdStream::Unix(theirs));
    let opened = LdapConnAsync::with_settings(settings, "ldapi:///").await;
    let (connection, ldap) = opened.map_err(failed)?;
    let carried = carry(stream, ours);
    tokio::select! {
        answer = decide(ldap, question) => answer,
        ended = carried => Err(ended),
        ended = connection.drive() => Err(match ended {
            Ok(()) => LdapError::Connection("the server closed it".to_owned()),
            Err(error) => failed(error),
        }),
    }
}

/// Carries bytes both ways until one side ends.
async fn carry<S: AsyncRead + AsyncWrite>(stream: S, ours: UnixStream) -> LdapError {
    let (from_server, mut to_server) = tokio::io::split(stream);
    let (mut from_library, mut to_library) = ours.into_split();
    // One more than may come, so that the end of what may come is no answer that ends there.
    let mut bounded = from_server.take(MAX_BYTES + 1);
    let inward = async {
        match tokio::io::copy(&mut bounded, &mut to_library).await {
            Ok(read) if read > MAX_BYTES => LdapError::TooLarge,
            Ok(_) => LdapError::Connection("the server closed it".to_owned()),
            Err(error) => LdapError::Connection(error.to_string()),
        }
    };
    let outward = async {
        let mut buffer = [0; 4096];
        loop {
            let read = match from_library.read(&mut buffer).await {
                Ok(0) => return std::future::pending::<LdapError>().await,
                Ok(read) => read,
                Err(error) => return LdapError::Connection(error.to_string()),
            };
            let sent = async {
                to_server.write_all(&buffer[..read]).await?;
                to_server.flush().await
            };
            if let Err(error) = sent.await {
                return LdapError::Connection(error.to_string());
            }
        }
    };
    tokio::select! {
        ended = inward => ended,
        ended = outward => ended,
    }
}

async fn decide(mut ldap: Ldap, question: Question) -> Result<Option<Entry>, LdapError> {
    let filter = question
        .filter
        .replace(LOGIN, &ldap_escape(question.login.as_str()));
    if parse_filter(&filter).is_err() {
        return Err(LdapError::Filter);
    }
    if question.password.expose().is_empty() || question.login.is_empty() {
        return Ok(None);
    }
    if let Some((dn, password)) = &question.bind {
        let bound = ldap.simple_bind(dn, password.expose()).await;
        match bound.map_err(failed)?.rc {
            0 => {}
            code => return Err(LdapError::Bind(code)),
        }
    }
    // Two, so that a name that means several people is seen.
    let options = SearchOptions::new()
        .deref(DerefAliases::Never)
        .sizelimit(2)
        .timelimit(5);
    let found = ldap
        .with_search_options(options)
        .search(&question.base, Scope::Subtree, &filter, ["*", "+"])
        .await;
    let found = found.map_err(failed)?;
    match found.1.rc {
        0 => {}
        SIZE_LIMIT => return Err(LdapError::Several),
        NO_SUCH_OBJECT => return Ok(None),
        code => return Err(LdapError::Search(code)),
    }
    // A referral is not followed: who is elsewhere is not there.
    let mut entries = found
        .0
        .into_iter()
        .filter(|entry| !entry.is_ref() && !entry.is_intermediate())
        .map(|entry| Entry::of(SearchEntry::construct(entry)));
    let entry = match (entries.next(), entries.next()) {
        (None, _) => return Ok(None),
        (Some(_), Some(_)) => return Err(LdapError::Several),
        (Some(entry), None) => entry,
    };
    // The bind of an entry without a name would be nobody's.
    if entry.dn.is_empty() {
        return Ok(None);
    }
    let bound = ldap.simple_bind(&entry.dn, question.password.expose());
    match bound.await.map_err(failed)?.rc {
        0 => Ok(Some(entry)),
        INVALID_CREDENTIALS => Ok(None),
        code => Err(LdapError::Refused(code)),
    }
}

fn failed(error: Protocol) -> LdapError {
    match error {
        Protocol::FilterParsing => LdapError::Filter,
        error => LdapError::Connection(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
