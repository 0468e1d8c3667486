//! How much there is: `signet doctor --sizes`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use signet_store::sqlite::{self, DATABASE_FILE, Size};
use signet_store::{Engine, Key, PostgresStore, RealmId, Store, Table};
use signet_terminal::Failure;
use signet_terminal::output::table;

use super::machine;
use super::subject::Subject;
use crate::moment::now;

/// Rows that are read at once.
const PAGE: usize = 1024;

type Sizes = BTreeMap<(RealmId, Table), Size>;

/// What each realm has, by the table that has one row for each of it.
const OF_REALM: &[(&str, Table)] = &[
    ("people", Table::User),
    ("clients", Table::Client),
    ("sessions", Table::Session),
    ("refresh_families", Table::Family),
    ("signing_keys", Table::SigningKey),
    ("revocations", Table::Revocation),
];

/// Everything that is counted.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn of(subject: &Subject) -> Result<Value, Failure> {
    let place = &subject.place;
    let unusable = |e: &dyn std::fmt::Display| Failure::unusable(e.to_string());
    let (sizes, database) = match &place.engine {
        Engine::Sqlite { directory, .. } => {
            place.existing_rows()?;
            let sizes = sqlite::sizes(directory).map_err(|e| unusable(&e))?;
            let file = |end: &str| {
                let path = directory.join(format!("{DATABASE_FILE}{end}"));
                fs::metadata(path).map_or(0, |about| about.len())
            };
            (sizes, Some(file("") + file("-wal")))
        }
        Engine::Postgres { options, .. } => {
            let store = PostgresStore::open(options).map_err(|e| unusable(&e))?;
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|e| unusable(&e))?;
            let sizes = runtime.block_on(of_store(&store)).map_err(|e| unusable(&e));
            store.close();
            (sizes?, None)
        }
    };
    let tables: Vec<Value> = sizes
        .iter()
        .map(|((realm, table), size)| {
            json!({ "realm": realm.as_str(), "table": name(*table), "rows": size.rows,
                    "bytes": size.bytes })
        })
        .collect();
    let mut realms: Vec<&RealmId> = sizes.keys().map(|(realm, _)| realm).collect();
    realms.dedup();
    let realms: Vec<Value> = realms
        .into_iter()
        .map(|realm| {
            let mut counts = json!({ "realm": realm.as_str() });
            for (what, table) in OF_REALM {
                let size = sizes.get(&(realm.clone(), *table));
                counts[*what] = size.map_or(0, |size| size.rows).into();
            }
            counts
        })
        .collect();
    let process =
        machine::running(subject).map(|pid| json!({ "pid": pid, "resident_bytes": resident(pid) }));
    Ok(json!({
        "tables": tables,
        "realms": realms,
        "database_bytes": database,
        "trail_bytes": bytes_of(&place.audit),
        "process": process,
    }))
}

async fn of_store(store: &dyn Store) -> Result<Sizes, signet_store::StoreError> {
    let mut sizes = Sizes::new();
    for table in Table::ALL {
        let mut after: Option<Key> = None;
        loop {
            let page = store.page(*table, after.as_ref(), PAGE, now()).await?;
            for (key, row) in &page {
                let realm = RealmId::of_partition(&key.partition);
                let size = sizes.entry((realm, *table)).or_default();
                size.rows += 1;
                size.bytes += (key.partition.len() + key.sort.len() + row.value.len()) as u64;
            }
            if page.len() < PAGE {
                break;
            }
            after = page.into_iter().next_back().map(|(key, _)| key);
        }
    }
    Ok(sizes)
}

/// A table's name as settings and metrics are written: `UserSession` is `user_session`.
fn name(table: Table) -> String {
    let mut name = String::new();
    for c in format!("{table:?}").chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Bytes of the files of a directory and of those below it.
fn bytes_of(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    let entries = entries.filter_map(Result::ok);
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => bytes_of(&entry.path()),
            Ok(_) => entry.metadata().map_or(0, |about| about.len()),
            Err(_) => 0,
        })
        .sum()
}

/// Bytes of a process that are in memory, where the system says it.
fn resident(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// For people.
pub(crate) fn shown(sizes: &Value) -> String {
    let cell = |value: &Value| match value {
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rows = |list: &Value, members: &[&str]| -> Vec<Vec<String>> {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        let row = |value: &Value| members.iter().map(|name| cell(&value[name])).collect();
        list.iter().map(row).collect()
    };
    let tables = table(
        &["REALM", "TABLE", "ROWS", "BYTES"],
        &rows(&sizes["tables"], &["realm", "table", "rows", "bytes"]),
    );
    let mut members = vec!["realm"];
    members.extend(OF_REALM.iter().map(|(what, _)| *what));
    let head: Vec<String> = members
        .iter()
        .map(|name| name.to_ascii_uppercase().replace('_', " "))
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let realms = table(&head, &rows(&sizes["realms"], &members));
    let process = match &sizes["process"] {
        Value::Null => "no process has it open".to_owned(),
        process => format!(
            "process {}: {} bytes resident",
            process["pid"], process["resident_bytes"]
        ),
    };
    format!(
        "{tables}\n\n{realms}\n\ndatabase: {} bytes, audit trail: {} bytes, {process}",
        cell(&sizes["database_bytes"]),
        sizes["trail_bytes"]
    )
}
