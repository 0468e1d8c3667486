//! `audit tail` and `audit export`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use clap::Args;
use serde_json::{Value, json};
use signet_audit::{Action, event::SHOWN, read};

use super::source::{self, Source, Where};
use crate::cli::admin::user_id;
use crate::cli::{Failure, Output, block_on, output};
use crate::moment::When;
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{Session, Target};
use signet_config::fault::nearest;
use signet_crypto::private_file;

/// How often --follow looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often an export is tried until it ends with a checkpoint.
const TRIES: usize = 5;

/// Lines that are asked for at once: a page of the admin API.
const PAGE: usize = 500;

/// Lines that are shown where nothing says how many.
const USUAL: usize = 20;

/// What people call the target of a record.
const TARGET_NAME: &str = "target_name";

/// What a server calls the subject of a record, where that is a user.
const USERNAME: &str = "username";

/// `signet audit tail`
#[derive(Debug, Args)]
pub struct Tail {
    /// The last so many lines. Without it all that --since and --until leave, or the last 20.
    #[arg(long, value_name = "N")]
    lines: Option<usize>,
    /// Print further lines as they come, until interrupted; with --json one object a line.
    #[arg(long)]
    follow: bool,
    /// Only lines of this action: token.issue, login, admin.
    #[arg(long, value_name = "ACTION")]
    action: Option<String>,
    /// Only lines of what this user did, and of what was done to them: a user name, mail address
    /// or id. Where no server answers, the names are those that the trail itself has.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// All lines from then on: 24h, 30d, 2026-11-22, 2026-11-22T10:00:00Z or Unix seconds.
    #[arg(long, value_name = "TIME", value_parser = When::parse)]
    since: Option<When>,
    /// All lines before then, which is written likewise.
    #[arg(long, value_name = "TIME", value_parser = When::parse, conflicts_with = "follow")]
    until: Option<When>,
    #[command(flatten)]
    wanted: Where,
    #[command(flatten)]
    target: Target,
}

/// `signet audit export`
#[derive(Debug, Args)]
pub struct Export {
    /// The file to write; it must not exist.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    wanted: Where,
    #[command(flatten)]
    target: Target,
}

/// At most a page of lines: the last ones, or those from an index on.
async fn page(source: &Source<'_>, from: Option<u64>, limit: usize) -> Result<Vec<Value>, Failure> {
    match source {
        Source::Files(place) => {
            let broken = |e: read::ReadError| {
                Failure::no(
                    "malformed",
                    format!("the trail cannot be read: {e} (signet audit verify says where)"),
                )
            };
            let segments = place.segments().map_err(|e| broken(e.into()))?;
            let lines = read::lines(&segments, from, limit).map_err(broken)?;
            Ok(lines.iter().map(|line| line.to_json()).collect())
        }
        Source::Server(session) => {
            let from = from.map(|from| format!("&from={from}"));
            let path = format!("/audit/lines?limit={limit}{}", from.unwrap_or_default());
            let page = session.get(&path).await?;
            Ok(page["items"].as_array().cloned().unwrap_or_default())
        }
    }
}

fn index_of(line: &Value) -> Option<u64> {
    line["index"].as_u64()
}

/// Which lines, by the members that they have.
struct Filter<'a> {
    action: Option<&'a str>,
    /// What the user is called in lines: the name that was asked for, and their ids.
    user: Option<Vec<String>>,
    /// Unix milliseconds.
    from_ms: Option<u64>,
    /// Likewise; the first one that is not wanted.
    until_ms: Option<u64>,
}

impl Filter<'_> {
    async fn of<'a>(arguments: &'a Tail, source: &Source<'_>) -> Result<Filter<'a>, Failure> {
        let action = arguments.action.as_deref();
        if let Some(action) = action {
            known_action(action);
        }
        let user = match &arguments.user {
            None => None,
            Some(name) => Some(names_of(name, arguments, source).await?),
        };
        let now = UNIX_EPOCH.elapsed().unwrap_or_default();
        let now_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let ms = |when: When| when.ms(now_ms);
        Ok(Filter {
            action,
            user,
            from_ms: arguments.since.map(ms),
            until_ms: arguments.until.map(ms),
        })
    }

    fn is_too_old(&self, line: &Value) -> bool {
        self.from_ms
            .is_some_and(|from| line["at_ms"].as_u64().is_some_and(|at| at < from))
    }

    fn is_too_new(&self, line: &Value) -> bool {
        self.until_ms
            .is_some_and(|until| line["at_ms"].as_u64().is_some_and(|at| at >= until))
    }

    fn takes(&self, line: &Value) -> bool {
        self.action.is_none_or(|action| line["action"] == action)
            && self.user.as_ref().is_none_or(|names| {
                names
                    .iter()
                    .any(|name| PERSON.iter().any(|member| line[*member] == **name))
            })
            && !self.is_too_old(line)
            && !self.is_too_new(line)
    }
}

/// Members that say who did something and to whom.
const PERSON: [&str; 3] = ["subject", "target", TARGET_NAME];

/// What lines call somebody: the name that was given, and the ids that it is or was known by. A
/// server knows those of accounts that are there; the trail those that it has seen made or removed.
async fn names_of(
    name: &str,
    arguments: &Tail,
    source: &Source<'_>,
) -> Result<Vec<String>, Failure> {
    let id = match source {
        Source::Server(session) => Some(user_id(session, name).await?),
        // A development server that runs beside its files knows who is meant.
        Source::Files(_) if arguments.target.is_development() => {
            let asked = Session::with(&arguments.target, async |session| {
                user_id(session, name).await
            });
            asked.await.ok()
        }
        Source::Files(_) => None,
    };
    let mut names = vec![name.to_owned()];
    if let Some(id) = id.filter(|id| id != name) {
        names.push(id);
        return Ok(names);
    }
    // An id, or the name of an account that is gone: the trail has seen it.
    let mut from = 0;
    loop {
        let lines = page(source, Some(from), PAGE).await?;
        for line in &lines {
            let id = line["target"]
                .as_str()
                .filter(|_| line[TARGET_NAME] == name);
            if let Some(id) = id.filter(|id| names.iter().all(|known| known != id)) {
                names.push(id.to_owned());
            }
        }
        match lines.last().and_then(index_of) {
            Some(last) if last >= from => from = last + 1,
            Some(_) | None => return Ok(names),
        }
    }
}

/// The last lines of those that are wanted, and whether there are more than were asked for.
async fn last(
    source: &Source<'_>,
    most: Option<usize>,
    filter: &Filter<'_>,
) -> Result<(Vec<Value>, bool), Failure> {
    // One more than is wanted says that there are more.
    let enough = most.map_or(usize::MAX, |most| most.saturating_add(1));
    let newest = page(source, None, enough.clamp(1, PAGE)).await?;
    let mut from = newest.first().and_then(index_of).unwrap_or_default();
    let mut is_done = newest.first().is_some_and(|line| filter.is_too_old(line));
    let mut found: Vec<Value> = newest
        .into_iter()
        .filter(|line| filter.takes(line))
        .collect();
    let mut pages: Vec<Vec<Value>> = Vec::new();
    let mut count = found.len();
    // Further back, a page at a time, as long as too few were found.
    while count < enough && from > 0 && !is_done {
        let begin = from.saturating_sub(PAGE as u64);
        let limit = usize::try_from(from - begin).unwrap_or(PAGE);
        let mut older = page(source, Some(begin), limit).await?;
        is_done = older.first().is_some_and(|line| filter.is_too_old(line));
        older.retain(|line| index_of(line).is_some_and(|index| index < from) && filter.takes(line));
        from = begin;
        count += older.len();
        pages.push(older);
    }
    let mut all: Vec<Value> = pages.into_iter().rev().flatten().collect();
    all.append(&mut found);
    let surplus = most.map_or(0, |most| all.len().saturating_sub(most));
    all.drain(..surplus);
    Ok((all, surplus > 0))
}

/// One line for people.
fn text(line: &Value) -> String {
    let word = |name: &str| line[name].as_str().map(str::to_owned);
    let verdict = match (line["decision"].as_str(), line["outcome"].as_str()) {
        (Some("none"), Some(outcome)) => outcome.to_owned(),
        (Some(decision), _) => decision.to_owned(),
        (None, _) => String::new(),
    };
    let mut out = format!(
        "{:>6}  {}  {:<20} {:<9}",
        line["index"].as_u64().unwrap_or_default(),
        output::date(line["at_ms"].as_u64().unwrap_or_default() / 1000),
        word("action").unwrap_or_default(),
        verdict
    );
    // The name that a server knows the subject by; then what the record has.
    for name in [USERNAME].into_iter().chain(SHOWN) {
        let value = word(name).or_else(|| line[name].as_u64().map(|n| n.to_string()));
        if let Some(value) = value {
            let clean = value.replace(char::is_control, "\u{fffd}");
            out.push_str(&format!(" {name}={clean}"));
        }
    }
    out.trim_end().to_owned()
}

/// User ids as the names that people know: asked for once each. Only a server knows them; a file
/// keeps the ids.
async fn with_names(source: &Source<'_>, known: &mut HashMap<String, String>, lines: &mut [Value]) {
    let Source::Server(session) = source else {
        return;
    };
    for line in lines {
        let Some(id) = line["subject"].as_str().map(str::to_owned) else {
            continue;
        };
        if !known.contains_key(&id) {
            // Clients and agents are subjects too, and have no such record.
            let path = format!("/users/{}", percent_encode(&id));
            let user = session.get(&path).await.unwrap_or_default();
            let name = user[USERNAME].as_str().unwrap_or(&id).to_owned();
            known.insert(id.clone(), name);
        }
        if let Some(name) = known.get(&id).filter(|name| **name != id) {
            line[USERNAME] = name.as_str().into();
        }
    }
}

/// Prints at once; `false` where nobody reads any more.
fn say(lines: &[Value], json: bool) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    for line in lines {
        let line = if json { line.to_string() } else { text(line) };
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(false),
            Err(e) => return Err(Failure::unusable(format!("cannot write the answer: {e}"))),
        }
    }
    Ok(true)
}

/// Says that a name is none of this version's actions. A trail of another version may have it.
fn known_action(name: &str) {
    let known = Action::ALL.iter().map(|action| action.0);
    if known.clone().any(|action| action == name) {
        return;
    }
    let near = nearest(name, known).map(|near| format!("; did you mean {near}?"));
    let near = near.unwrap_or_default();
    output::note(&format!("no action is called {name}{near}"));
}

async fn show(source: &Source<'_>, arguments: &Tail, output: &Output) -> Result<(), Failure> {
    let filter = Filter::of(arguments, source).await?;
    let mut known = HashMap::new();
    let in_time = arguments.since.is_some() || arguments.until.is_some();
    let most = arguments.lines.or((!in_time).then_some(USUAL));
    let (mut found, was_cut) = last(source, most, &filter).await?;
    if was_cut {
        let most = most.unwrap_or_default();
        output::note(&format!(
            "the last {most}; there are more: --lines N, or --since TIME for all from then on"
        ));
    }
    with_names(source, &mut known, &mut found).await;
    if !arguments.follow {
        let lines: Vec<String> = found.iter().map(text).collect();
        return output.print(&Value::Array(found), || lines.join("\n"));
    }
    let newest = page(source, None, 1).await?;
    let mut next = newest
        .last()
        .and_then(index_of)
        .map_or(0, |index| index + 1);
    if !say(&found, output.json)? {
        return Ok(());
    }
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let mut lines = page(source, Some(next), PAGE).await?;
        next = lines
            .last()
            .and_then(index_of)
            .map_or(next, |index| index + 1);
        lines.retain(|line| filter.takes(line));
        with_names(source, &mut known, &mut lines).await;
        if !say(&lines, output.json)? {
            return Ok(());
        }
    }
}

/// `audit tail`
pub fn tail(arguments: &Tail, output: &Output) -> Result<(), Failure> {
    match source::local(&arguments.target, None, &arguments.wanted) {
        Some(place) => block_on(show(&Source::Files(place), arguments, output))?,
        None => block_on(Session::with(&arguments.target, async |session| {
            show(&Source::Server(session), arguments, output).await
        }))?,
    }
}

async fn bundle(source: &Source<'_>, out: &Path) -> Result<u64, Failure> {
    let failed = |e: io::Error| Failure::unusable(format!("cannot write {}: {e}", out.display()));
    if out.exists() {
        return Err(Failure::unusable(format!(
            "{} is there already",
            out.display()
        )));
    }
    let mut all = Vec::new();
    for _ in 0..TRIES {
        all.clear();
        let read = source.each_segment(|bytes, about| {
            bytes
                .read_to_end(&mut all)
                .map(drop)
                .map_err(|e| Failure::unusable(format!("cannot read {about}: {e}")))
        });
        read.await?;
        // A batch that is being written is whole a moment later. What stays broken is exported as
        // it is: verifying finds it.
        if ends_signed(&all) {
            break;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    private_file::write(out, &all).map_err(failed)?;
    Ok(all.len() as u64)
}

/// Whether a checkpoint is the last of these bytes.
fn ends_signed(bytes: &[u8]) -> bool {
    use signet_audit::line::Frame;
    use signet_audit::segment::{Found, frames};
    frames(bytes).last().is_some_and(
        |found| matches!(found, Found::Frame(frame, _) if matches!(*frame, Frame::Checkpoint(_))),
    )
}

/// `audit export`
pub fn export(arguments: &Export, output: &Output) -> Result<(), Failure> {
    let bytes = match source::local(&arguments.target, None, &arguments.wanted) {
        Some(place) => block_on(bundle(&Source::Files(place), &arguments.out))?,
        None => block_on(Session::with(&arguments.target, async |session| {
            bundle(&Source::Server(session), &arguments.out).await
        }))?,
    }?;
    let answer = json!({ "file": arguments.out, "bytes": bytes });
    output.print(&answer, || {
        format!("{}: {bytes} bytes", arguments.out.display())
    })
}
