//! What the documentation says in figures is what the code says.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The server's crates, from the sockets down; each limit is named by its crate.
const CRATES: [&str; 39] = [
    "gate-login",
    "telemetry",
    "monitoring",
    "context",
    "archive",
    "keeping",
    "fetched",
    "console",
    "operation",
    "ldap",
    "texts",
    "age",
    "budgets",
    "provisioning",
    "declaration",
    "encoding",
    "merge",
    "scim",
    "realm",
    "request",
    "federation",
    "login",
    "admin",
    "server",
    "registry",
    "pages",
    "mail",
    "directory",
    "moving",
    "http",
    "audit",
    "gate",
    "oauth",
    "jose",
    "webauthn",
    "crypto",
    "store",
    "consensus",
    "cluster",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Integers, products of integers, and shifts: what limits are written with.
fn value(expression: &str) -> Option<u64> {
    let number = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
    if let Some((base, shift)) = expression.split_once("<<") {
        return Some(number(base)? << number(shift)?);
    }
    expression.split('*').map(number).product()
}

/// A row for each constant `MAX_...` or `MIN_...` that says what it is: (its comment, what else is
/// in the row).
fn rows() -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for name in CRATES {
        let source = root().join("crates").join(name).join("src");
        let mut files = Vec::new();
        sources(&source, &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let mut comment = Vec::new();
            for line in text.lines() {
                let line = line.trim();
                if let Some(said) = line.strip_prefix("///") {
                    comment.push(said.trim());
                    continue;
                }
                let said = std::mem::take(&mut comment).join(" ");
                let declaration = line
                    .trim_start_matches("pub(crate) ")
                    .trim_start_matches("pub(super) ")
                    .trim_start_matches("pub ");
                let Some(declaration) = declaration.strip_prefix("const ") else {
                    continue;
                };
                let Some((left, right)) = declaration.split_once('=') else {
                    continue;
                };
                let limit = left.split(':').next().unwrap().trim();
                // How often a race is tried again concerns nobody outside.
                if said.is_empty()
                    || limit == "MAX_TRIES"
                    || !(limit.starts_with("MAX_") || limit.starts_with("MIN_"))
                {
                    continue;
                }
                if let Some(value) = value(right.trim().trim_end_matches(';')) {
                    rows.push((said, format!("| {value} | {name} `{limit}` |")));
                }
            }
        }
    }
    rows
}

#[test]
fn every_limit_is_documented_with_its_value() {
    let rows = rows();
    assert!(rows.len() > 30, "{rows:?}");
    let page = std::fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for (said, row) in &rows {
        assert!(
            page.contains(row.as_str()),
            "docs/limits.md lacks\n| {said} {row}"
        );
    }
    for line in page.lines().filter(|l| l.ends_with("` |")) {
        assert!(
            rows.iter().any(|(_, row)| line.ends_with(row.as_str())),
            "docs/limits.md: the code has no such limit\n{line}"
        );
    }
}

/// `A7` at the start of `text`: a letter of the list and a number.
fn cited(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['(', ' ']);
    let digits = text.strip_prefix(['A', 'C', 'G', 'V'])?;
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    (count > 0).then(|| &text[..=count])
}

#[test]
fn every_fault_that_a_comment_cites_is_in_the_list() {
    let page = std::fs::read_to_string(root().join("docs/faults.md")).unwrap();
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut found = 0;
    for file in files.iter().filter(|file| !file.ends_with(file!())) {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines() {
            let Some((_, comment)) = line.split_once("//") else {
                continue;
            };
            for (at, word) in comment.match_indices("fault") {
                let rest = comment[at + word.len()..].trim_start_matches('s');
                let Some(code) = cited(rest) else { continue };
                found += 1;
                assert!(
                    page.contains(&format!("\n| {code} |")),
                    "docs/faults.md has no row {code}, which {} cites",
                    file.display()
                );
            }
        }
    }
    assert!(found > 40, "the comments are not read: {found} citations");
}

/// Names of functions in `text`, after the keyword.
fn functions<'a>(text: &'a str, keyword: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(keyword).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn every_test_that_the_list_of_faults_names_exists() {
    let page = std::fs::read_to_string(root().join("docs/faults.md")).unwrap();
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut known: HashSet<String> = HashSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        known.extend(functions(&text, "fn ").map(str::to_owned));
    }
    for file in ["tests/gate/test_gate.py", "tests/gate/test_proxies.py"] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        known.extend(functions(&text, "def ").map(str::to_owned));
    }
    let mut found = 0;
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let tests = row.rsplit(" | ").next().unwrap_or_default();
        for named in tests.split('`').skip(1).step_by(2) {
            let name = named.rsplit("::").next().unwrap_or_default();
            let is_name = named
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_:".contains(&b));
            // Shorter ones are modules, all of whose tests are meant.
            if !is_name || name.matches('_').count() < 3 {
                continue;
            }
            found += 1;
            assert!(known.contains(name), "there is no test {named}:\n{row}");
        }
    }
    assert!(found > 200, "the list is not read: {found} tests");
}

#[test]
fn the_programs_of_the_page_about_connecting_are_the_files_that_run() {
    let page = std::fs::read_to_string(root().join("docs/connect.md")).unwrap();
    let folder = root().join("docs/connect");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        files.push(entry.unwrap().file_name().into_string().unwrap());
    }
    assert!(files.len() >= 8, "{files:?}");
    for name in &files {
        let program = std::fs::read_to_string(folder.join(name)).unwrap();
        let (_, behind) = page
            .split_once(&format!("`docs/connect/{name}`\n\n```"))
            .unwrap_or_else(|| panic!("docs/connect.md does not show {name}"));
        let (_, shown) = behind.split_once('\n').unwrap();
        let shown = shown.split("```").next().unwrap();
        assert_eq!(shown, program, "{name}");
    }
}

#[test]
fn the_readme_leads_to_what_an_application_needs() {
    let page = std::fs::read_to_string(root().join("README.md")).unwrap();
    for target in [
        "docs/connect.md",
        "docs/client-members.md",
        "docs/glossary.md",
        "/admin/v1/openapi.json",
        "NODE_EXTRA_CA_CERTS",
    ] {
        assert!(page.contains(target), "{target}");
    }
}

/// The literals of strings in `text`, in order.
fn literals(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((_, behind)) = rest.split_once('"') {
        let mut escaped = false;
        let end = behind.find(|c| {
            let closes = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        });
        let Some(end) = end else { break };
        found.push(&behind[..end]);
        rest = &behind[end + 1..];
    }
    found
}

/// An operator searches the log by its messages: each is constant, begins with what happened, and
/// has its nouns in fields.
#[test]
fn log_messages_are_constant_and_begin_with_a_verb() {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let mut found = 0;
    for file in files {
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("\n#[cfg(test)]").next().unwrap();
        for level in ["debug", "info", "warn", "error"] {
            for call in code.split(&format!("tracing::{level}!(")).skip(1) {
                // A statement, or an arm of a match.
                let ends = [call.find(");"), call.find("),\n")].into_iter().flatten();
                let call = &call[..ends.min().unwrap_or(call.len())];
                let Some(message) = literals(call).pop() else {
                    continue;
                };
                found += 1;
                let first = message.split(' ').next().unwrap();
                let is_verb = first.trim_end_matches(':').ends_with("ed")
                    || first.trim_end_matches(':').ends_with("ing")
                    || VERBS.contains(&first);
                assert!(
                    is_verb && !message.contains('{'),
                    "{}: \"{message}\"",
                    file.display()
                );
            }
        }
    }
    assert!(found > 150, "{found} messages were read");
}

/// Those that end in neither "ed" nor "ing".
const VERBS: [&str; 9] = [
    "bound",
    "lost",
    "withdrew",
    "caught",
    "began",
    "answering",
    "ready",
    "administration",
    "logged",
];
