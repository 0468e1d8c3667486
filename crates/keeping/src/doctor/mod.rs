//! `signet doctor`: whether everything around a server is right, one row for each thing that it
//! depends on.
//!
//! A check looks and changes nothing. Each has its own time, all run at once, and each answers with
//! one row: what was found, and, where that is not right, what mends it.

mod answer;
mod machine;
mod network;
mod sizes;
mod store;
mod subject;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use signet_terminal::output::table;
use signet_terminal::{Failure, Output};

use crate::place::Which;
use subject::Subject;

/// How long a check may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How something is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// It works, and may not for long, or less well than it could.
    Warning,
    /// Something does not work.
    Wrong,
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Warning => "warning",
            State::Wrong => "wrong",
        }
    }
}

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    pub(crate) state: State,
    /// What is there.
    pub(crate) found: String,
    /// A command or a setting that mends it.
    pub(crate) mend: Option<String>,
}

impl Finding {
    pub(crate) fn ok(found: impl Into<String>) -> Finding {
        Finding {
            state: State::Ok,
            found: found.into(),
            mend: None,
        }
    }

    pub(crate) fn warning(found: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding {
            state: State::Warning,
            found: found.into(),
            mend: Some(mend.into()),
        }
    }

    pub(crate) fn wrong(found: impl Into<String>, mend: impl Into<String>) -> Finding {
        Finding {
            state: State::Wrong,
            found: found.into(),
            mend: Some(mend.into()),
        }
    }
}

type Finds = Pin<Box<dyn Future<Output = Finding> + Send>>;

/// One row of the table.
struct Check {
    name: &'static str,
    /// What of it is looked at, for the manual.
    about: &'static str,
    run: fn(Arc<Subject>) -> Finds,
}

/// Every check, in the order of its row.
const CHECKS: &[Check] = &[
    Check {
        name: "dns",
        about: "the issuer's host has an address",
        run: |subject| Box::pin(network::dns(subject)),
    },
    Check {
        name: "tls",
        about: "the certificate that is shown is the issuer's, from an authority that is trusted, and lasts",
        run: |subject| Box::pin(network::tls(subject)),
    },
    Check {
        name: "issuer",
        about: "what answers at the issuer's address says that it is this issuer, and is ready",
        run: |subject| Box::pin(answer::issuer(subject)),
    },
    Check {
        name: "clock",
        about: "this machine's clock, against the issuer's answer and the database's",
        run: |subject| Box::pin(answer::clock(subject)),
    },
    Check {
        name: "proxy",
        about: "what a reverse proxy may say of callers, and whether a caller can say it, too",
        run: |subject| Box::pin(answer::proxy(subject)),
    },
    Check {
        name: "mail",
        about: "the mail server takes a connection, TLS and the login; nothing is sent",
        run: |subject| Box::pin(network::mail(subject)),
    },
    Check {
        name: "store",
        about: "the database can be read, and its schema is one that this version works on",
        run: |subject| Box::pin(apart(subject, store::store)),
    },
    Check {
        name: "disk",
        about: "there is space for the database and the audit trail",
        run: |subject| Box::pin(apart(subject, machine::disk)),
    },
    Check {
        name: "permissions",
        about: "nobody else reads keys and secrets, and one user owns the data directory",
        run: |subject| Box::pin(apart(subject, machine::permissions)),
    },
    Check {
        name: "limits",
        about: "the process may open as many files as it has connections",
        run: |subject| Box::pin(apart(subject, machine::limits)),
    },
];

/// A check that waits for the disk or for a thread of its own.
async fn apart(subject: Arc<Subject>, look: fn(&Subject) -> Finding) -> Finding {
    let looked = tokio::task::spawn_blocking(move || look(&subject)).await;
    looked.unwrap_or_else(|_| Finding::wrong("the check stopped", "report it"))
}

/// `signet doctor ...`
#[derive(Debug, Args)]
pub struct Doctor {
    #[command(flatten)]
    which: Which,
    /// PEM file of a further authority that the server's certificate may come from [default: a
    /// development server's own].
    #[arg(long, value_name = "FILE")]
    ca_cert: Option<PathBuf>,
    /// Also count: rows and bytes of each table, what each realm has, the trail, the memory of the
    /// process.
    #[arg(long)]
    sizes: bool,
}

impl Doctor {
    /// Does the command.
    ///
    /// # Errors
    /// Exit 1: something is wrong; exit 2: it cannot be said what to look at.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        let place = self.which.find(false)?;
        let subject = Subject::of(place, self.ca_cert.as_deref())?;
        let subject = Arc::new(subject);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|e| Failure::unusable(format!("cannot start: {e}")))?;
        let rows = runtime.block_on(look(&subject));
        // What still waits for an answer that nobody waits for ends with the process.
        runtime.shutdown_background();
        let sizes = match self.sizes {
            true => Some(sizes::of(&subject)?),
            false => None,
        };
        answer(&rows, sizes.as_ref(), output)
    }
}

/// All rows.
async fn look(subject: &Arc<Subject>) -> Vec<(&'static str, Finding)> {
    let begun: Vec<_> = CHECKS
        .iter()
        .map(|check| tokio::spawn(within((check.run)(subject.clone()))))
        .collect();
    let mut rows = Vec::with_capacity(CHECKS.len());
    for (check, begun) in CHECKS.iter().zip(begun) {
        let finding = begun.await;
        let stopped = |_| Finding::wrong("the check stopped", "report it");
        rows.push((check.name, finding.unwrap_or_else(stopped)));
    }
    rows
}

async fn within(check: Finds) -> Finding {
    let late = |_| {
        Finding::wrong(
            format!("no answer within {} s", PATIENCE.as_secs()),
            "see what keeps it from answering: a firewall, a machine that is gone, a disk that hangs",
        )
    };
    tokio::time::timeout(PATIENCE, check)
        .await
        .unwrap_or_else(late)
}

fn answer(
    rows: &[(&'static str, Finding)],
    sizes: Option<&Value>,
    output: &Output,
) -> Result<(), Failure> {
    let list: Vec<Value> = CHECKS
        .iter()
        .zip(rows)
        .map(|(check, (name, finding))| {
            json!({ "check": name, "about": check.about, "state": finding.state.name(),
                    "found": finding.found, "mend": finding.mend })
        })
        .collect();
    let wrong: Vec<&str> = rows
        .iter()
        .filter(|(_, finding)| finding.state == State::Wrong)
        .map(|(name, _)| *name)
        .collect();
    let mut answer = json!({ "ok": wrong.is_empty(), "checks": list });
    if let Some(sizes) = sizes {
        answer["sizes"] = sizes.clone();
    }
    let failure = || {
        let text = format!("something is wrong: {}", wrong.join(", "));
        Failure::no("something_is_wrong", text)
    };
    if output.json && !wrong.is_empty() {
        return Err(failure().with(answer));
    }
    output.print(&answer, || {
        let mut lines = vec![shown(rows)];
        lines.extend(sizes.map(sizes::shown));
        lines.join("\n\n")
    })?;
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(failure()),
    }
}

fn shown(rows: &[(&'static str, Finding)]) -> String {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .flat_map(|(name, finding)| {
            let first = vec![
                (*name).to_owned(),
                finding.state.name().to_owned(),
                finding.found.clone(),
            ];
            let mend = finding
                .mend
                .iter()
                .map(|mend| vec![String::new(), String::new(), format!("mend: {mend}")]);
            std::iter::once(first).chain(mend).collect::<Vec<_>>()
        })
        .collect();
    table(&["CHECK", "STATE", "FOUND"], &cells)
}

/// The checks as rows of the manual.
#[cfg(test)]
fn manual() -> String {
    CHECKS
        .iter()
        .map(|check| format!("| `{}` | {} |\n", check.name, check.about))
        .collect()
}

#[cfg(test)]
mod tests;
