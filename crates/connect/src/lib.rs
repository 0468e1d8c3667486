//! What connects an application: the record that its kind needs, and programs to begin with. The
//! programs are those of docs/connect, for the command line and for the console.
//!
//! A program reads who it is from the environment; one that runs in a browser has none, and is
//! filled in instead.
#![forbid(unsafe_code)]

use serde_json::{Map, Value, json};

/// What is made for a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Makes {
    /// A client.
    Client,
    /// A resource server: clients ask for tokens that are meant for it.
    Resource,
}

/// A program to begin with.
#[derive(Debug)]
pub struct Program {
    /// The library that it uses, as its users call it.
    pub library: &'static str,
    /// Its file in docs/connect.
    pub file: &'static str,
    /// The whole of it.
    pub text: &'static str,
    /// The variable that makes it trust a further authority; None: it has none.
    pub trusts_by: Option<&'static str>,
}

/// A kind of application.
#[derive(Debug)]
pub struct Kind {
    /// Its name: `web`.
    pub name: &'static str,
    /// What is made for it.
    pub makes: Makes,
    /// Programs, the usual library's first.
    pub programs: &'static [Program],
    /// Where answers go on a developer's machine, unless somebody says; None: none go anywhere.
    pub redirect: Option<&'static str>,
    /// Scripts of its pages call the token endpoint.
    pub in_browser: bool,
    members: fn() -> Value,
}

/// Who it is, for the programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Connection<'a> {
    /// `iss`
    pub issuer: &'a str,
    /// A client's id.
    pub client_id: &'a str,
    /// Its secret, where it was just made.
    pub client_secret: Option<&'a str>,
    /// Where answers go.
    pub redirect_uri: Option<&'a str>,
    /// The identifier of a resource server.
    pub resource: Option<&'a str>,
    /// PEM of the authority that the server's certificate comes from, as a path.
    pub authority: Option<&'a str>,
}

const PEOPLE: &str = "openid profile email offline_access";

macro_rules! program {
    ($library:literal, $file:literal, $trust:expr) => {
        Program {
            library: $library,
            file: $file,
            text: include_str!(concat!("../../../docs/connect/", $file)),
            trusts_by: $trust,
        }
    };
}

const NODE: Option<&str> = Some("NODE_EXTRA_CA_CERTS");
const PYTHON: Option<&str> = Some("REQUESTS_CA_BUNDLE");
const GO: Option<&str> = Some("SSL_CERT_FILE");

/// Every kind.
pub static KINDS: [Kind; 7] = [
    Kind {
        name: "web",
        makes: Makes::Client,
        programs: &[
            program!("openid-client (Node)", "web.mjs", NODE),
            program!("Authlib (Python)", "web.py", PYTHON),
            program!("go-oidc (Go)", "web.go", GO),
            program!("Spring Security (Java)", "application.yml", None),
        ],
        redirect: Some("http://127.0.0.1:3000/callback"),
        in_browser: false,
        members: || json!({ "grant_types": ["authorization_code", "refresh_token"], "scope": PEOPLE }),
    },
    Kind {
        name: "spa",
        makes: Makes::Client,
        programs: &[program!("oidc-client-ts (JavaScript)", "spa.mjs", None)],
        redirect: Some("http://localhost:5173/callback"),
        in_browser: true,
        members: || {
            json!({ "grant_types": ["authorization_code", "refresh_token"], "scope": PEOPLE,
                    "token_endpoint_auth_method": "none" })
        },
    },
    Kind {
        name: "native",
        makes: Makes::Client,
        programs: &[program!("Authlib (Python)", "native.py", PYTHON)],
        // Any port of it (RFC 8252 section 7.3).
        redirect: Some("http://127.0.0.1/callback"),
        in_browser: false,
        members: || {
            json!({ "grant_types": ["authorization_code", "refresh_token"], "scope": PEOPLE,
                    "token_endpoint_auth_method": "none", "application_type": "native" })
        },
    },
    Kind {
        name: "service",
        makes: Makes::Client,
        programs: &[program!("Authlib (Python)", "service.py", PYTHON)],
        redirect: None,
        in_browser: false,
        members: || json!({ "grant_types": ["client_credentials"] }),
    },
    Kind {
        name: "device",
        makes: Makes::Client,
        programs: &[program!("requests (Python)", "device.py", PYTHON)],
        redirect: None,
        in_browser: false,
        members: || {
            json!({ "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
                    "scope": PEOPLE, "token_endpoint_auth_method": "none",
                    "application_type": "native" })
        },
    },
    Kind {
        name: "mcp",
        makes: Makes::Resource,
        programs: &[program!("mcp (Python)", "mcp.py", PYTHON)],
        redirect: None,
        in_browser: false,
        members: || json!({ "scope": "" }),
    },
    Kind {
        name: "agent",
        makes: Makes::Client,
        programs: &[program!("signet (shell)", "agent.sh", GO)],
        redirect: None,
        in_browser: false,
        members: || {
            json!({ "grant_types": ["urn:ietf:params:oauth:grant-type:token-exchange"],
                    "may_exchange_agent_grants": true })
        },
    },
];

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<&'static Kind> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Fills a record with what the kind needs and nobody said.
    pub fn fill(&self, record: &mut Map<String, Value>) {
        if let Value::Object(members) = (self.members)() {
            for (name, value) in members {
                record.entry(name).or_insert(value);
            }
        }
        if let Some(redirect) = self.redirect {
            let redirects = record.entry("redirect_uris");
            redirects.or_insert_with(|| json!([redirect]));
        }
        if self.in_browser {
            let redirects = record.get("redirect_uris").and_then(Value::as_array);
            let origins: Vec<String> = redirects
                .into_iter()
                .flatten()
                .filter_map(|uri| origin(uri.as_str()?))
                .collect();
            let known = record.entry("allowed_origins");
            known.or_insert_with(|| json!(origins));
        }
    }

    /// The lines to paste: the variables of a program, and the program.
    pub fn lines(&self, program: &Program, of: &Connection<'_>) -> String {
        if self.in_browser {
            let filled = program.text.replace("CLIENT_ID", of.client_id);
            return filled.replace("https://localhost:8443", of.issuer);
        }
        let reads = |name: &str| program.text.contains(name);
        let redirect = of.redirect_uri.filter(|_| reads("REDIRECT_URI"));
        let authority = program.trusts_by.zip(of.authority);
        let variables = [
            ("ISSUER", Some(of.issuer)),
            ("CLIENT_ID", Some(of.client_id).filter(|id| !id.is_empty())),
            ("CLIENT_SECRET", of.client_secret),
            ("REDIRECT_URI", redirect),
            ("RESOURCE", of.resource),
        ];
        let named = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .chain(authority);
        let mut lines: Vec<String> = named
            .map(|(name, value)| format!("export {name}='{}'", value.replace('\'', r"'\''")))
            .collect();
        lines.push(String::new());
        lines.push(program.text.trim_end().to_owned());
        lines.join("\n")
    }
}

/// `https://app.example.com` of a URL.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    scheme
        .starts_with("http")
        .then(|| format!("{scheme}://{authority}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Connection<'_> = Connection {
        issuer: "https://id.example",
        client_id: "it's-me",
        client_secret: Some("s3cret"),
        redirect_uri: Some("https://app.example/callback"),
        resource: Some("https://tools.example/mcp"),
        authority: Some("/tmp/ca.pem"),
    };

    #[test]
    fn a_program_to_paste_has_thirty_lines_at_most() {
        for kind in &KINDS {
            let usual = &kind.programs[0];
            assert!(usual.text.lines().count() <= 30, "{}", usual.file);
        }
    }

    #[test]
    fn every_program_of_every_kind_says_whose_server_it_asks_and_who_it_is() {
        for kind in &KINDS {
            assert!(!kind.programs.is_empty(), "{}", kind.name);
            for program in kind.programs {
                let lines = kind.lines(program, &HERE);
                assert!(lines.contains("https://id.example"), "{}", program.file);
                let own = match (kind.makes, kind.in_browser) {
                    (Makes::Resource, _) => "RESOURCE='https://tools.example/mcp'",
                    (Makes::Client, true) => "client_id: 'it's-me'",
                    (Makes::Client, false) => r"CLIENT_ID='it'\''s-me'",
                };
                assert!(lines.contains(own), "{}: {lines}", program.file);
                // What is named is read, and nothing else is left for the reader to fill in.
                for name in ["ISSUER", "CLIENT_ID", "CLIENT_SECRET", "RESOURCE"] {
                    let reads = program.text.contains(name) && !kind.in_browser;
                    let names = lines.contains(&format!("export {name}="));
                    assert!(!reads || names, "{}: {name}", program.file);
                }
                if let Some(trusts_by) = program.trusts_by {
                    let line = format!("export {trusts_by}='/tmp/ca.pem'");
                    assert!(lines.contains(&line), "{}", program.file);
                }
            }
        }
    }

    #[test]
    fn a_single_page_may_call_from_where_it_is_redirected_to_and_what_was_said_stays() {
        let spa = Kind::named("spa").unwrap();
        let mut record = Map::new();
        record.insert("scope".into(), "openid".into());
        record.insert(
            "redirect_uris".into(),
            json!(["https://app.example.com/callback?x"]),
        );
        spa.fill(&mut record);
        assert_eq!(record["scope"], "openid");
        assert_eq!(
            record["allowed_origins"],
            json!(["https://app.example.com"])
        );
        assert_eq!(record["token_endpoint_auth_method"], "none");
        assert!(Kind::named("fax").is_none());
    }
}
