//! The file's form: what is read is checked as if somebody else had written it.

use std::{collections::BTreeSet, mem, path::PathBuf};

use serde::{Deserialize, Serialize};
use signet_crypto::Secret;
use zeroize::{Zeroize, Zeroizing};

/// Most logins that are kept.
pub const MAX_CONTEXTS: usize = 100;
/// Longest name of a context, in characters.
pub const MAX_NAME: usize = 200;
/// Longest other text, in characters: tokens are a few hundred.
const MAX_TEXT: usize = 16 * 1024;

/// The tokens of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// For the admin API.
    pub access: Secret<String>,
    /// When it expires, in Unix seconds.
    pub expires_at: u64,
    /// For the next access token; none where the server issued none.
    pub refresh: Option<Secret<String>>,
}

/// One login that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// What the user calls it.
    pub name: String,
    /// The issuer, without a slash at its end.
    pub issuer: String,
    /// PEM file of the authority of its certificate, as an absolute path; none: the system's.
    pub ca_cert: Option<PathBuf>,
    /// The account's id.
    pub sub: String,
    /// The account's name, where it could be read.
    pub username: Option<String>,
    /// What was issued.
    pub tokens: Tokens,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contexts {
    current: Option<String>,
    all: Vec<Context>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    current: Option<String>,
    contexts: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_cert: Option<PathBuf>,
    sub: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    access_token: String,
    expires_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
}

/// Its texts were tokens.
impl Drop for Entry {
    fn drop(&mut self) {
        self.access_token.zeroize();
        self.refresh_token.zeroize();
    }
}

impl Contexts {
    /// Those of a file's bytes.
    ///
    /// # Errors
    /// What is wrong, without a word of the file: it holds tokens.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Contexts, String> {
        let form: Form = serde_json::from_slice(bytes).map_err(|e| {
            let (line, column) = (e.line(), e.column());
            format!("it is not what `signet login` writes (line {line}, column {column})")
        })?;
        if form.contexts.len() > MAX_CONTEXTS {
            return Err(format!("it has more than {MAX_CONTEXTS} contexts"));
        }
        let mut names = BTreeSet::new();
        let mut all = Vec::with_capacity(form.contexts.len());
        for (at, entry) in form.contexts.into_iter().enumerate() {
            let context = entry.checked().map_err(|wrong| {
                let number = at + 1;
                format!("{wrong} of its context {number} is not what `signet login` writes")
            })?;
            if !names.insert(context.name.clone()) {
                return Err("two of its contexts have one name".into());
            }
            all.push(context);
        }
        match form.current {
            Some(current) if !names.contains(&current) => {
                Err("its current context is not there".into())
            }
            current => Ok(Contexts { current, all }),
        }
    }

    /// The file's bytes.
    pub(crate) fn write(&self) -> Zeroizing<Vec<u8>> {
        let form = Form {
            current: self.current.clone(),
            contexts: self.all.iter().map(Entry::of).collect(),
        };
        // Invariant: texts, numbers and paths that were texts always serialize.
        let mut bytes = serde_json::to_vec_pretty(&form).unwrap_or_default();
        bytes.push(b'\n');
        Zeroizing::new(bytes)
    }

    /// All, in the order in which they were made.
    pub fn all(&self) -> &[Context] {
        &self.all
    }

    /// The one that commands use.
    pub fn current(&self) -> Option<&Context> {
        self.named(self.current.as_deref()?)
    }

    /// The one of this name.
    pub fn named(&self, name: &str) -> Option<&Context> {
        self.all.iter().find(|context| context.name == name)
    }

    /// One of this server: the current one before others.
    pub fn of_server(&self, issuer: &str) -> Option<&Context> {
        let is_it = |context: &&Context| context.issuer == issuer;
        self.current()
            .filter(is_it)
            .or_else(|| self.all.iter().find(is_it))
    }

    /// Keeps a login, in place of the one of its name, and makes it the current one. What it
    /// replaced is given back.
    ///
    /// # Errors
    /// Too many are kept, or a text of it cannot be kept.
    pub fn keep(&mut self, context: Context) -> Result<Option<Context>, String> {
        let context = Entry::of(&context)
            .checked()
            .map_err(|wrong| format!("{wrong} of this login cannot be kept"))?;
        self.current = Some(context.name.clone());
        if let Some(there) = self.all.iter_mut().find(|c| c.name == context.name) {
            return Ok(Some(std::mem::replace(there, context)));
        }
        if self.all.len() >= MAX_CONTEXTS {
            return Err(format!(
                "{MAX_CONTEXTS} logins are kept already: `signet logout` ends one"
            ));
        }
        self.all.push(context);
        Ok(None)
    }

    /// Other tokens of the same login.
    pub fn renew(&mut self, name: &str, tokens: Tokens) {
        if let Some(there) = self.all.iter_mut().find(|c| c.name == name) {
            there.tokens = tokens;
        }
    }

    /// Makes this one the current one; false: none has this name.
    pub fn select(&mut self, name: &str) -> bool {
        let is_there = self.named(name).is_some();
        if is_there {
            self.current = Some(name.to_owned());
        }
        is_there
    }

    /// Forgets one. No other becomes the current one by itself: what a command does would be done
    /// to another server.
    pub fn forget(&mut self, name: &str) {
        self.all.retain(|context| context.name != name);
        if self.current.as_deref() == Some(name) {
            self.current = None;
        }
    }
}

impl Entry {
    fn of(context: &Context) -> Entry {
        let text = |secret: &Secret<String>| secret.expose().clone();
        Entry {
            name: context.name.clone(),
            server: context.issuer.clone(),
            ca_cert: context.ca_cert.clone(),
            sub: context.sub.clone(),
            username: context.username.clone(),
            access_token: text(&context.tokens.access),
            expires_at: context.tokens.expires_at,
            refresh_token: context.tokens.refresh.as_ref().map(text),
        }
    }

    /// The context, or the name of the member that cannot be one's.
    fn checked(mut self) -> Result<Context, &'static str> {
        let is_shown = |text: &str, longest: usize| {
            let is_long = text.is_empty() || text.chars().count() > longest;
            !is_long && !text.chars().any(char::is_control)
        };
        // RFC 6750 section 2.1 and RFC 6749 appendix A.17: visible characters, so that none of
        // them can end a header or a line.
        let is_token =
            |text: &str| is_shown(text, MAX_TEXT) && text.bytes().all(|b| b.is_ascii_graphic());
        let members = [
            ("name", is_shown(&self.name, MAX_NAME)),
            ("server", is_server(&self.server)),
            ("sub", is_shown(&self.sub, MAX_TEXT)),
            (
                "username",
                self.username
                    .as_deref()
                    .is_none_or(|t| is_shown(t, MAX_TEXT)),
            ),
            (
                "ca_cert",
                self.ca_cert
                    .as_deref()
                    .is_none_or(std::path::Path::is_absolute),
            ),
            ("access_token", is_token(&self.access_token)),
            (
                "refresh_token",
                self.refresh_token.as_deref().is_none_or(is_token),
            ),
        ];
        if let Some((wrong, _)) = members.into_iter().find(|(_, is_right)| !is_right) {
            return Err(wrong);
        }
        Ok(Context {
            name: mem::take(&mut self.name),
            issuer: mem::take(&mut self.server),
            ca_cert: self.ca_cert.take(),
            sub: mem::take(&mut self.sub),
            username: self.username.take(),
            tokens: Tokens {
                access: Secret::new(mem::take(&mut self.access_token)),
                expires_at: self.expires_at,
                refresh: self.refresh_token.take().map(Secret::new),
            },
        })
    }
}

/// An issuer's URL: https, no query and no fragment, visible characters alone (RFC 8414 section 2).
fn is_server(text: &str) -> bool {
    let rest = text.strip_prefix("https://");
    text.len() <= MAX_NAME * 4
        && text.bytes().all(|b| b.is_ascii_graphic())
        && rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
        && !text.contains(['?', '#', '@', '\\', '"'])
        && !text.ends_with('/')
}

/// What a context is called unless told otherwise: the issuer's host, with its port and path.
pub fn name_of(issuer: &str) -> String {
    let name = issuer.strip_prefix("https://").unwrap_or(issuer);
    name.chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(name: &str) -> Context {
        Context {
            name: name.into(),
            issuer: "https://id.example".into(),
            ca_cert: Some("/etc/ca.pem".into()),
            sub: "u1".into(),
            username: Some("alice".into()),
            tokens: Tokens {
                access: Secret::new("access-token".into()),
                expires_at: 10,
                refresh: Some(Secret::new("refresh-token".into())),
            },
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_no_debug_output_has_a_token() {
        let mut all = Contexts::default();
        all.keep(context("a")).unwrap();
        all.keep(context("b")).unwrap();
        assert_eq!(Contexts::parse(&all.write()).unwrap(), all);
        let shown = format!("{all:?}");
        assert!(!shown.contains("access-token") && !shown.contains("refresh-token"));
        assert_eq!(all.current().unwrap().name, "b");
        assert!(all.select("a") && !all.select("c"));
        all.forget("a");
        assert_eq!(all.current(), None, "no other server by itself");
        assert_eq!(all.of_server("https://id.example").unwrap().name, "b");
        assert_eq!(Contexts::parse(&all.write()).unwrap(), all);
    }

    #[test]
    fn a_file_that_a_stranger_wrote_is_refused_and_not_repeated() {
        let mut all = Contexts::default();
        all.keep(context("a")).unwrap();
        let good = String::from_utf8(all.write().to_vec()).unwrap();
        for (from, to) in [
            ("\"a\"", "\"a\\u001b[2J\""),
            ("\"a\"", "\"\""),
            ("https://id.example", "http://id.example"),
            ("https://id.example", "https://id.example/?x=1"),
            ("https://id.example", "https://me@id.example"),
            ("https://id.example", "https://id.example/"),
            ("https://id.example", "file:///etc/passwd"),
            ("/etc/ca.pem", "ca.pem"),
            ("access-token", "access token"),
            ("access-token", "access\\r\\nx: y"),
            ("refresh-token", ""),
            ("\"expires_at\": 10", "\"expires_at\": \"refresh-token\""),
            ("\"sub\"", "\"subject\""),
            ("\"current\": \"a\"", "\"current\": \"b\""),
            ("{", "[{"),
        ] {
            let bad = good.replace(from, to);
            assert_ne!(bad, good, "{from}");
            let refused = Contexts::parse(bad.as_bytes()).unwrap_err();
            assert!(!refused.contains("token\""), "{refused}");
            assert!(!refused.contains("refresh-token"), "{refused}");
        }
        let two = good.replace("\"contexts\": [", "\"contexts\": [\n");
        let entry = two.split_once('[').unwrap().1.rsplit_once(']').unwrap().0;
        let twice = good.replace(entry.trim(), &format!("{},{}", entry.trim(), entry.trim()));
        assert!(
            Contexts::parse(twice.as_bytes())
                .unwrap_err()
                .contains("one name")
        );
    }

    #[test]
    fn so_many_are_kept_and_no_more() {
        let mut all = Contexts::default();
        for number in 0..MAX_CONTEXTS {
            all.keep(context(&format!("c{number}"))).unwrap();
        }
        assert!(all.keep(context("c0")).unwrap().is_some(), "replaced");
        assert!(all.keep(context("more")).is_err());
        let mut control = context("a");
        control.username = Some("a\u{7}".into());
        assert!(Contexts::default().keep(control).is_err());
    }

    #[test]
    fn a_context_is_called_as_its_server() {
        assert_eq!(
            name_of("https://id.example:8443/acme"),
            "id.example:8443/acme"
        );
    }
}
