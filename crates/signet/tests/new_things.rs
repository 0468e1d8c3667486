//! "Where a new thing goes", in ARCHITECTURE.md, counted. For each row one thing of its kind that
//! exists: whatever file of the house names it must be among the files that the row names, so a
//! row that grows fails here until the table says so.
//!
//! Read from the code's text, without comments, strings and tests.
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// A thing of a row's kind.
struct Example {
    /// the first cell of the row
    row: &'static str,
    /// the names that it has in the code: whole words, or paths of them
    names: &'static [&'static str],
    /// where the thing is used as any other of its kind is, once it is there
    users: &'static [&'static str],
}

const EXAMPLES: &[Example] = &[
    Example {
        row: "a signature algorithm",
        names: &["MlDsa65"],
        // What nodes sign with.
        users: &[
            "cluster/identity.rs",
            "cluster/join/answer.rs",
            "cluster/member.rs",
        ],
    },
    Example {
        row: "a token format",
        names: &["AccessTokenFormat::Compact"],
        users: &["realm/records/registry.rs", "config/model.rs"],
    },
    Example {
        row: "a grant",
        names: &["client_credentials", "ClientCredentials"],
        users: &["signet/dev/clients.rs"],
    },
    // One with polling and a row of its own. Its request comes to an endpoint of its own.
    Example {
        row: "a grant",
        names: &[
            "GrantType::DeviceCode",
            "SingleUse::DeviceCode",
            "RowName::DeviceCode",
        ],
        users: &[
            // Which kind of application a client is.
            "console/pages/connection.rs",
            "oauth/authorize/checks/parameters.rs",
            "oauth/command_line.rs",
            "server/endpoint/device_authorization.rs",
            "signet/dev/clients.rs",
        ],
    },
    Example {
        row: "a client authentication method",
        names: &["self_signed_tls_client_auth", "SelfSignedTlsClientAuth"],
        users: &[],
    },
    Example {
        row: "a response mode, signed or not",
        names: &["form_post::FormPost", "ResponseMode::FORM_POST"],
        users: &[],
    },
    Example {
        row: "a member of a client's record",
        names: &["software_id"],
        users: &[],
    },
    Example {
        row: "a check of authorization requests",
        names: &["must_be_pushed"],
        users: &[],
    },
    Example {
        row: "a form of authorization request: an object, a client's document",
        names: &["Form::Pushed"],
        users: &[],
    },
    Example {
        row: "an endpoint",
        names: &["EndpointId::Userinfo"],
        users: &[],
    },
    Example {
        row: "an operation of the admin API",
        names: &["rotate_sealing"],
        users: &[],
    },
    Example {
        row: "a kind of record that every node has in memory",
        names: &[
            "RecordKind::Provider",
            "provider::ROW",
            "providers::Providers",
        ],
        // Another node may have written it a moment ago.
        users: &[
            "admin/operations/import/brought.rs",
            "admin/operations/providers.rs",
        ],
    },
    Example {
        row: "a kind of record of the admin API",
        names: &["SESSIONS"],
        users: &[],
    },
    Example {
        row: "an action in the audit trail",
        names: &["LOGOUT"],
        users: &[
            "realm/outbox/back_channel_logout.rs",
            "request/browser_request.rs",
            "server/endpoint/provider_logout.rs",
        ],
    },
    Example {
        row: "a way to log in",
        names: &["email_code", "EmailCode"],
        users: &[],
    },
    // One that a script answers, on the login page and as a further step.
    Example {
        row: "a way to log in",
        names: &["passkey::METHOD"],
        users: &[],
    },
    Example {
        row: "a way to log in that leads elsewhere, by a redirect or a challenge",
        names: &["provider::LEAD"],
        users: &[],
    },
    Example {
        row: "a kind of thing that goes out: a notice, a mail, an event",
        names: &["BackChannelLogout", "back_channel_logout", "NOTICES"],
        // The change that causes it, and the operation that lists it.
        users: &["admin/operations/logouts.rs", "directory/logout_notice.rs"],
    },
    Example {
        row: "a store",
        names: &["SqliteStore"],
        // The replicated store is made of it, and what a node heard is kept in one. The command
        // shows how far the schema of each kind is.
        users: &[
            "consensus/acknowledged.rs",
            "consensus/dial.rs",
            "consensus/log.rs",
            "consensus/machine.rs",
            "consensus/node.rs",
            "consensus/recover.rs",
            "consensus/store.rs",
            "consensus/task.rs",
            "signet/cli/store.rs",
            "node/lib.rs",
            // What a backup has, what a doctor and an upgrade look at.
            "keeping/check.rs",
            "keeping/doctor/store.rs",
            "keeping/upgrade.rs",
            "node/moving.rs",
        ],
    },
    Example {
        row: "a setting",
        names: &["code_lifetime"],
        users: &["oauth/authorize/decide.rs"],
    },
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The table: first cell, and the paths in the second, with the crate's name first and without
/// `src`.
fn table() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page");
    let (_, section) = text
        .split_once("## Where a new thing goes")
        .expect("the section");
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| a ") || line.starts_with("| an "));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let paths = cells[1].split('`').skip(1).step_by(2);
        let paths = paths.filter(|path| path.contains('/')).map(str::to_owned);
        (cells[0].to_owned(), paths.collect())
    })
    .collect()
}

/// Blanks comments, and what stands between quotes; cuts off the tests at a file's end.
fn code(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        let mut quoted = false;
        let mut before = ' ';
        for (at, c) in line.char_indices() {
            if !quoted && line[at..].starts_with("//") {
                break;
            }
            if c == '"' && before != '\\' && before != '\'' {
                quoted = !quoted;
            } else if !quoted {
                code.push(c);
            }
            before = c;
        }
        code.push('\n');
    }
    code
}

/// Every source file of the house, as the table names it, with its code.
fn sources() -> BTreeMap<String, String> {
    fn walk(folder: &Path, name: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let file = path.file_name().expect("a name").to_string_lossy();
            let name = format!("{name}/{file}");
            if path.is_dir() {
                walk(&path, &name, found);
            } else if name.ends_with(".rs") && !name.contains("/tests") && !name.contains("testing")
            {
                let text = fs::read_to_string(&path).expect("is read");
                found.insert(name, code(&text));
            }
        }
    }
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name != "bench" && path.join("src").is_dir() {
            walk(&path.join("src"), &name, &mut found);
        }
    }
    found
}

/// Whether the word, or path of words, stands in the code by itself.
fn is_named(code: &str, name: &str) -> bool {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[test]
fn a_new_thing_touches_no_file_that_its_row_does_not_name() {
    let (table, sources) = (table(), sources());
    let mut faults = Vec::new();
    for example in EXAMPLES {
        let Some(paths) = table.get(example.row) else {
            faults.push(format!("there is no row {:?}", example.row));
            continue;
        };
        let touched: BTreeSet<&str> = sources
            .iter()
            .filter(|(_, code)| example.names.iter().any(|name| is_named(code, name)))
            .map(|(file, _)| file.as_str())
            .collect();
        if touched.is_empty() {
            faults.push(format!("nothing is called {:?}", example.names));
        }
        for file in touched {
            let named = |path: &String| {
                file == path || path.ends_with('/') && file.starts_with(path.as_str())
            };
            if !paths.iter().any(named) && !example.users.contains(&file) {
                faults.push(format!("{:?} also touches {file}", example.row));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_that_a_row_names_is_there() {
    for (row, paths) in table() {
        for path in paths {
            let (name, rest) = path.split_once('/').expect("a crate first");
            let folder = root().join("crates").join(name);
            let is_there = folder.join("src").join(rest).exists() || folder.join(rest).exists();
            assert!(is_there, "{row:?} names {path}");
        }
    }
}
