//! What the documentation says in figures is what the code says.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The server's crates, from the sockets down; each limit is named by its crate.
const CRATES: [&str; 17] = [
    "scim",
    "server",
    "registry",
    "pages",
    "mail",
    "directory",
    "http",
    "audit",
    "gate",
    "oauth",
    "jose",
    "webauthn",
    "crypto",
    "store",
    "cassandra",
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
