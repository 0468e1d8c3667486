//! The example of a configuration file: every setting with its documentation, in the order in
//! which somebody who writes their first file needs it. What is a default is commented out, as
//! `#name = value`; a comment that is read has a space behind its sign.
//!
//! It is made of the types and the rows that the server runs on. What stands here is what those do
//! not know: the order of the sections, a value for what has no default, and whole records of
//! lists.
use crate::explain::{Explained, explain, table};
use crate::realms::is_records;
use crate::settings::{Owner, SETTINGS};
use serde_json::Value;
use std::fmt::Write as _;

/// Longest line of a comment, in characters.
const WIDTH: usize = 100;

/// Headings, and the tables, settings and lists below them. Single settings come first of all: in
/// TOML they would belong to the table before them.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "What everybody sets",
        &[
            "issuer",
            "data_dir",
            "node",
            "listeners",
            "tls",
            "mail",
            "users",
        ],
    ),
    (
        "Where it runs",
        &["proxy", "store", "cluster", "outbound", "limits"],
    ),
    (
        "Rules of the protocol",
        &[
            "keys",
            "lifetimes",
            "protocol",
            "registration",
            "agents",
            "access",
        ],
    ),
    (
        "People",
        &["brand", "passkeys", "passwords", "sign_up", "login_limits"],
    ),
    (
        "What is recorded",
        &["log", "audit", "administration", "metrics", "telemetry"],
    ),
    (
        "What this file owns; everything else is administered with `signet client`, `signet user`, ...",
        &[
            "clients",
            "resources",
            "scopes",
            "attributes",
            "roles",
            "groups",
            "step_up",
            "rules",
            "providers",
            "realms",
        ],
    ),
];

/// What the example says: of everybody, something else.
const SAID: &[(&str, &str)] = &[
    ("issuer", r#""https://id.example.com""#),
    ("data_dir", r#""/var/lib/signet""#),
    ("tls.certificate", r#""tls/chain.pem""#),
    ("tls.key", r#""tls/key.pem""#),
    ("mail.from", r#""Example Login <login@example.com>""#),
    ("mail.smtp.host", r#""smtp.example.com""#),
    ("mail.smtp.username", r#""signet""#),
    ("mail.smtp.password", r#"{ file = "secrets/smtp" }"#),
];

/// What may be said where there is no default, or nothing is the default.
const MAY_BE_SAID: &[(&str, &str)] = &[
    ("node", r#""node-1""#),
    ("tls.client_ca", r#""tls/client-ca.pem""#),
    ("proxy.trusted", r#"["10.0.0.2"]"#),
    ("proxy.secret_file", r#""secrets/proxy""#),
    ("proxy.client_certificate_header", r#""client-cert""#),
    (
        "proxy.client_certificate_url",
        r#""https://mtls.id.example.com""#,
    ),
    ("store.url", r#""postgres://signet@db.example.com/signet""#),
    ("store.password", r#"{ file = "secrets/database" }"#),
    ("store.directory", r#"".""#),
    ("mail.smtp.port", "587"),
    ("mail.smtp.trust", r#""tls/private-ca.pem""#),
    ("mail.directory", r#""mail""#),
    ("brand.name", r#""Example""#),
    ("brand.logo", r#""brand/logo.svg""#),
    ("brand.favicon", r#""brand/favicon.ico""#),
    ("brand.accent", r##""#1a5fb4""##),
    ("brand.accent_dark", r##""#78aeed""##),
    ("brand.background", r##""#f4f5f7""##),
    ("brand.css", r#""brand/own.css""#),
    ("brand.terms", r#""https://example.com/terms""#),
    ("brand.privacy", r#""https://example.com/privacy""#),
    ("brand.help", r#""https://example.com/help""#),
    (
        "brand.texts",
        r#"{ en = { mail-recover-button = "Choose a password" } }"#,
    ),
    ("brand.clients", r##"{ shop = { accent = "#7a1fa2" } }"##),
    ("protocol.default_audience", r#""https://api.example.com""#),
    ("protocol.required_acr", r#""urn:signet:acr:two-factors""#),
    ("agents.constraints", r#"{ x-env = "production" }"#),
    (
        "passkeys.related_origins",
        r#"["https://login.example.net"]"#,
    ),
    ("sign_up.domains", r#"["example.com"]"#),
    ("sign_up.denied_domains", r#"["example.net"]"#),
    ("sign_up.terms_url", r#""https://www.example.com/terms""#),
    ("sign_up.terms_version", r#""2026-11""#),
    ("cluster.listen", r#""10.0.0.1:7443""#),
    ("cluster.advertise", r#"["node-1.internal:7443"]"#),
    ("cluster.url", r#""https://node-1.example.com""#),
    ("cluster.zone", r#""a""#),
    ("cluster.peers", r#"["signet-nodes.internal:7443"]"#),
    ("cluster.staleness", r#""1m""#),
    ("outbound.trust", r#""tls/private-ca.pem""#),
    (
        "telemetry.otlp_endpoint",
        r#""https://collector.internal:4318""#,
    ),
    ("telemetry.otlp_headers", r#"{ file = "secrets/otlp" }"#),
    ("telemetry.ca_file", r#""tls/private-ca.pem""#),
    ("limits.threads", "4"),
    ("limits.password_threads", "2"),
    ("log.level", r#""info""#),
    ("log.format", r#""json""#),
    ("audit.node", r#""node-1""#),
    ("audit.archive_directory", r#""/archive/signet""#),
    ("audit.keep_for", r#""400d""#),
    ("audit.keep_bytes", "10000000000"),
];

/// Records of lists: those of the first two are said, the others may be.
const RECORDS: &[(&str, &str)] = &[
    (
        "listeners",
        r#"[[listeners]]
address = "0.0.0.0:8443"
protocol = "https" # or "mtls", which asks for client certificates; or "http", behind a proxy
"#,
    ),
    (
        "users",
        r#"[[users]]
username = "root"
email = "root@example.com"
password = { env = "SIGNET_ROOT_PASSWORD" }
admin = true
"#,
    ),
    (
        "clients",
        r#"[[clients]]
client_id = "shop"
client_name = "The shop"
redirect_uris = ["https://shop.example.com/callback"]
post_logout_redirect_uris = ["https://shop.example.com/"]
grant_types = ["authorization_code", "refresh_token"]
token_endpoint_auth_method = "client_secret_basic"
client_secrets = [{ file = "secrets/shop" }] # two during a change; at least 32 bytes each
scope = ["openid", "profile", "email", "offline_access", "orders:read"]
resources = ["https://api.example.com"]

[[clients]]
client_id = "app"
client_name = "The app"
application_type = "native"
redirect_uris = ["com.example.app:/callback", "http://127.0.0.1/callback"]
grant_types = ["authorization_code", "refresh_token"]
token_endpoint_auth_method = "none"
scope = ["openid", "offline_access"]

[[clients]]
client_id = "reports"
grant_types = ["client_credentials"]
token_endpoint_auth_method = "tls_client_auth"
tls_client_auth_san_dns = "reports.example.com"
tls_client_certificate_bound_access_tokens = true
scope = ["orders:read"]
resources = ["https://api.example.com"]
"#,
    ),
    (
        "resources",
        r#"[[resources]]
identifier = "https://api.example.com"
name = "The orders API"
scopes = ["orders:read", "orders:write"]
introspectors = ["shop"]
"#,
    ),
    (
        "scopes",
        r#"[[scopes]]
name = "orders:read"
description = "See your orders"
descriptions = { de = "Deine Bestellungen sehen" } # for those who read these languages

[[scopes]]
name = "orders:write"
description = "Place orders for you"
published = false

[[scopes]]
name = "work"
description = "See your department and what you may do"
claims = ["resource_access", { claim = "department", from = "attribute:department" }]
"#,
    ),
    (
        "attributes",
        r#"[[attributes]]
name = "department"
label = "Department"
read = "person" # person, administrator or nobody
write = "administrator"
"#,
    ),
    (
        "roles",
        r#"[[roles]]
name = "buyer"
client = "shop"
"#,
    ),
    (
        "groups",
        r#"[[groups]]
name = "staff"

[[groups]]
name = "purchasing"
parent = "staff"
roles = ["shop/buyer"]
"#,
    ),
    (
        "step_up",
        r#"[[step_up]]
acr = "urn:signet:acr:two-factors"
groups = ["purchasing"]
"#,
    ),
    (
        "rules",
        r#"[[rules]]
name = "orders are not written at night"
effect = "deny" # or "allow"; one that denies wins
scopes = ["orders:write"]
when = { hours = "22:00-06:00", zone = "Europe/Berlin" }
except = { groups = ["purchasing"] }
"#,
    ),
    (
        "providers",
        r#"[[providers]]
name = "corp"
issuer = "https://id.corp.example"
client_id = "signet"
client_secret = { file = "secrets/corp" }
trust_email = true
domains = ["corp.example"]
"#,
    ),
    (
        "realms",
        r#"[[realms]]
name = "acme" # 1 to 32 of a-z, 0-9 and -, a letter first
[realms.settings.lifetimes] # in place of those above
access_token = "5m"
"#,
    ),
];

const HEAD: &str = "\
# A configuration of `signet serve --config FILE`. What is left out has its default: a line that is
# commented out (`#name = value`) says what that is, or what could stand there.
# `signet config check FILE` names every mistake of a file, `signet explain NAME` prints a setting,
# and `signet config schema` the JSON Schema for editors. `signet config example` prints this file.
# Relative paths start at this file's directory, unless a setting says another place. A length of
# time is a number of seconds, or a number with s, m, h or d. A change counts when the file is read
# again (a reload: SIGHUP), or when the process starts again (a restart).
";

fn of<'t>(table: &[(&str, &'t str)], path: &str) -> Option<&'t str> {
    let found = table.iter().find(|(own, _)| *own == path);
    found.map(|(_, value)| *value)
}

/// The example. `all`: every setting; else those that everybody sets.
pub fn example(all: bool) -> String {
    let mut page = HEAD.to_owned();
    let known = explain("").unwrap_or_default();
    let known: Vec<&Explained> = known
        .iter()
        .filter(|one| one.path == one.setting.path)
        .collect();
    let sections = match all {
        true => SECTIONS,
        false => &SECTIONS[..1],
    };
    for (heading, names) in sections {
        if all {
            let _ = writeln!(page, "\n# --- {heading} ---");
        }
        for name in *names {
            match known.iter().find(|one| one.path == *name) {
                Some(one) => setting(&mut page, one, all),
                None => of_table(&mut page, name, &known, all),
            }
        }
    }
    page
}

/// A table with its settings, then the tables in it.
fn of_table(page: &mut String, name: &str, known: &[&Explained], all: bool) {
    let mut tables: Vec<&str> = vec![name];
    for row in SETTINGS {
        let own = row.path.rsplit_once('.').map_or("", |(table, _)| table);
        let is_in = own
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'));
        if is_in && !tables.contains(&own) {
            tables.push(own);
        }
    }
    for path in tables {
        let own = |one: &&&Explained| {
            one.path
                .rsplit_once('.')
                .is_some_and(|(own, _)| own == path)
        };
        let is_said = known
            .iter()
            .filter(own)
            .any(|one| of(SAID, &one.path).is_some());
        if !all && !is_said {
            continue;
        }
        let (documentation, is_optional) = table(path).unwrap_or_default();
        page.push('\n');
        comment(page, &documentation);
        // Where a table that is there means something by itself, it is not there.
        let sign = if is_optional && !is_said { "#" } else { "" };
        let _ = writeln!(page, "{sign}[{path}]");
        for one in known.iter().filter(own) {
            setting(page, one, all);
        }
    }
}

fn setting(page: &mut String, one: &Explained, all: bool) {
    let (path, name) = (&*one.path, one.path.rsplit('.').next().unwrap_or(&one.path));
    let said = of(SAID, path);
    let records = of(RECORDS, path);
    let is_first = SECTIONS[0].1.contains(&path);
    if !all && said.is_none() && !(is_first && records.is_some()) {
        return;
    }
    page.push('\n');
    if all {
        comment(page, &one.documentation);
        comment(page, &facts(one));
    }
    if let Some(records) = records {
        for line in records.lines() {
            let sign = if is_first || line.is_empty() { "" } else { "#" };
            let _ = writeln!(page, "{sign}{line}");
        }
        return;
    }
    if let Some(said) = said {
        let _ = writeln!(page, "{name} = {said}");
        return;
    }
    let value = match of(MAY_BE_SAID, path) {
        Some(value) => value.to_owned(),
        None => toml(&one.default),
    };
    let _ = writeln!(page, "#{name} = {value}");
}

/// What may be written, the default, whose it is and when a change counts.
fn facts(one: &Explained) -> String {
    let mut facts = vec![one.shape.clone()];
    let has_default = match &one.default {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    if has_default {
        facts.push(format!("default: {}", toml(&one.default)));
    }
    match one.setting.owner {
        Owner::Process => {}
        Owner::Realm if is_records(&one.path) => facts.push("of the first realm".to_owned()),
        Owner::Realm => facts.push("a realm may have its own".to_owned()),
    }
    facts.push(format!("counts at a {}", one.setting.takes_effect.name()));
    format!("({})", facts.join("; "))
}

/// A default as the file has it.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members: Vec<String> = members
                .map(|(name, value)| format!("{name} = {}", toml(value)))
                .collect();
            match members.is_empty() {
                true => "{}".to_owned(),
                false => format!("{{ {} }}", members.join(", ")),
            }
        }
        // A text, number or boolean in JSON is one in TOML.
        plain => plain.to_string(),
    }
}

fn comment(page: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 1 {
            let _ = writeln!(page, "{line}");
            line.truncate(1);
        }
        line.push(' ');
        line.push_str(word);
    }
    if line.len() > 1 {
        let _ = writeln!(page, "{line}");
    }
}

/// The example with everything that is commented out.
#[cfg(test)]
pub(crate) fn with_all_said() -> String {
    let page = example(true);
    let lines = page.lines().map(|line| match line.strip_prefix('#') {
        Some(said) if !said.starts_with(' ') => said,
        Some(_) | None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Config;
    use crate::settings::{defaults, value, values};

    #[test]
    fn every_setting_is_in_the_example_once() {
        let page = example(true);
        let (mut table, mut found) = (String::new(), Vec::new());
        for line in page.lines() {
            let line = line.strip_prefix('#').unwrap_or(line);
            if let Some(list) = line.strip_prefix("[[") {
                table = list.split(']').next().unwrap().to_owned();
                if !found.contains(&table) {
                    found.push(table.clone());
                }
                table.insert(0, '!');
            } else if let Some(own) = line.strip_prefix('[') {
                table = own.split(']').next().unwrap().to_owned();
            } else if let Some((name, _)) = line.split_once(" = ")
                && !line.starts_with(' ')
                && !table.starts_with('!')
                && !table.starts_with("realms.")
            {
                found.push(match table.is_empty() {
                    true => name.to_owned(),
                    false => format!("{table}.{name}"),
                });
            }
        }
        let mut rows: Vec<&str> = SETTINGS.iter().map(|row| row.path).collect();
        found.sort_unstable();
        rows.sort_unstable();
        assert_eq!(found, rows);
    }

    /// What is written down as a default is the default, and whatever may be written is taken.
    #[test]
    fn every_line_of_the_example_can_be_said() {
        let said: Config = toml::from_str(&with_all_said()).expect("a configuration");
        let (said, defaults) = (values(&said), defaults());
        for row in SETTINGS {
            let is_given = [SAID, MAY_BE_SAID, RECORDS]
                .into_iter()
                .any(|table| of(table, row.path).is_some());
            let said = value(&said, row.path);
            assert!(!said.is_null(), "{}: it has no value", row.path);
            let table = row.path.split('.').next().unwrap_or_default();
            // A table that is not there has no defaults but those of its type.
            if !is_given && !value(&defaults, table).is_null() {
                assert_eq!(said, value(&defaults, row.path), "{}", row.path);
            }
        }
    }

    #[test]
    fn the_first_file_is_short_and_whole() {
        let first = example(false);
        assert!(first.lines().count() < 50, "{first}");
        let config: Config = toml::from_str(&first).expect("a configuration");
        assert!(config.tls.is_some() && config.mail.is_some());
        assert_eq!(config.users.len(), 1);
    }

    #[test]
    fn the_example_of_the_documentation_is_what_the_server_runs_on() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/signet.example.toml"
        );
        let made = example(true);
        if std::env::var_os("SIGNET_WRITE_DOCS").is_some() {
            std::fs::write(file, &made).expect("is written");
        }
        let kept = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            kept == made,
            "docs/signet.example.toml is not what the types say: SIGNET_WRITE_DOCS=1 cargo test -p signet-config"
        );
    }
}
