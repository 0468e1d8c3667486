//! What kind of application a client is: the record that it needs, and a program to begin with. The
//! programs are those of docs/connect.md.

use std::path::Path;

use clap::Args;
use serde_json::{Map, Value, json};

/// At most one kind.
#[derive(Clone, Copy, Debug, Args)]
#[group(id = "kind", multiple = false)]
pub struct KindArguments {
    /// A web application that keeps a secret, and people log in to.
    #[arg(long)]
    web: bool,
    /// A single page: a program in the browser, without a secret.
    #[arg(long)]
    spa: bool,
    /// A program on somebody's own machine or telephone, without a secret.
    #[arg(long)]
    native: bool,
    /// A service that acts for itself.
    #[arg(long)]
    service: bool,
    /// A device without a browser: its person logs in on another one.
    #[arg(long)]
    device: bool,
}

/// What a kind comes to. What the arguments say themselves is not changed.
struct Kind {
    program: &'static str,
    members: fn() -> Value,
    /// Where answers go on a developer's machine, unless the arguments say.
    redirect: Option<&'static str>,
    /// Scripts of its pages call the token endpoint.
    in_browser: bool,
}

const PEOPLE: &str = "openid profile email offline_access";

const WEB: Kind = Kind {
    program: include_str!("../../../../../docs/connect/web.mjs"),
    members: || json!({ "grant_types": ["authorization_code", "refresh_token"], "scope": PEOPLE }),
    redirect: Some("http://127.0.0.1:3000/callback"),
    in_browser: false,
};
const SPA: Kind = Kind {
    program: include_str!("../../../../../docs/connect/spa.mjs"),
    members: || {
        json!({ "grant_types": ["authorization_code", "refresh_token"], "scope": PEOPLE,
                "token_endpoint_auth_method": "none" })
    },
    redirect: Some("http://localhost:5173/callback"),
    in_browser: true,
};
const NATIVE: Kind = Kind {
    program: include_str!("../../../../../docs/connect/native.py"),
    members: || {
        json!({ "grant_types": ["authorization_code", "refresh_token"], "scope": PEOPLE,
                "token_endpoint_auth_method": "none", "application_type": "native" })
    },
    // Any port of it (RFC 8252 section 7.3).
    redirect: Some("http://127.0.0.1/callback"),
    in_browser: false,
};
const SERVICE: Kind = Kind {
    program: include_str!("../../../../../docs/connect/service.py"),
    members: || json!({ "grant_types": ["client_credentials"] }),
    redirect: None,
    in_browser: false,
};
const DEVICE: Kind = Kind {
    program: include_str!("../../../../../docs/connect/device.py"),
    members: || {
        json!({ "grant_types": ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
                "scope": PEOPLE, "token_endpoint_auth_method": "none",
                "application_type": "native" })
    },
    redirect: None,
    in_browser: false,
};

impl KindArguments {
    fn kind(self) -> Option<Kind> {
        let kinds = [
            (self.web, WEB),
            (self.spa, SPA),
            (self.native, NATIVE),
            (self.service, SERVICE),
            (self.device, DEVICE),
        ];
        let mut named = kinds.into_iter().filter(|(named, _)| *named);
        named.next().map(|(_, kind)| kind)
    }

    /// Fills a record with what its kind needs and nobody said.
    pub fn fill(self, record: &mut Map<String, Value>) {
        let Some(kind) = self.kind() else { return };
        if let Value::Object(members) = (kind.members)() {
            for (name, value) in members {
                record.entry(name).or_insert(value);
            }
        }
        if let Some(redirect) = kind.redirect {
            let redirects = record.entry("redirect_uris");
            redirects.or_insert_with(|| json!([redirect]));
        }
        if kind.in_browser {
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

    /// The lines to paste for a client that was made: its variables, and the program.
    pub fn lines(self, made: &Value, issuer: &str, authority: Option<&Path>) -> Option<String> {
        let kind = self.kind()?;
        let word = |name: &str| made[name].as_str();
        let id = word("client_id").unwrap_or_default();
        let mut lines = Vec::new();
        if kind.in_browser {
            let program = kind.program.replace("CLIENT_ID", id);
            lines.push(program.replace("https://localhost:8443", issuer));
        } else {
            let mut variables = vec![("ISSUER", issuer.to_owned()), ("CLIENT_ID", id.to_owned())];
            let secret = word("client_secret").map(|secret| ("CLIENT_SECRET", secret.to_owned()));
            variables.extend(secret);
            if kind.program == WEB.program {
                let redirect = made["redirect_uris"][0].as_str().unwrap_or_default();
                variables.push(("REDIRECT_URI", redirect.to_owned()));
            }
            if let Some(file) = authority {
                // Absolute: the program may be anywhere.
                let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
                let name = match kind.program == WEB.program {
                    true => "NODE_EXTRA_CA_CERTS",
                    false => "REQUESTS_CA_BUNDLE",
                };
                variables.push((name, file.display().to_string()));
            }
            for (name, value) in variables {
                lines.push(format!("export {name}='{}'", value.replace('\'', r"'\''")));
            }
            lines.push(String::new());
            lines.push(kind.program.trim_end().to_owned());
        }
        Some(lines.join("\n"))
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

    const NONE: KindArguments = KindArguments {
        web: false,
        spa: false,
        native: false,
        service: false,
        device: false,
    };

    #[test]
    fn a_program_to_paste_has_thirty_lines_at_most() {
        for kind in [WEB, SPA, NATIVE, SERVICE, DEVICE] {
            assert!(kind.program.lines().count() <= 30, "{}", kind.program);
        }
    }

    #[test]
    fn a_single_page_may_call_from_where_it_is_redirected_to_and_what_was_said_stays() {
        let spa = KindArguments { spa: true, ..NONE };
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
        let mut record = Map::new();
        NONE.fill(&mut record);
        assert!(record.is_empty());
    }
}
