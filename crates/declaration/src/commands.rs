//! The commands: `plan`, `apply`, `export`, `diff`, and the check of a directory.
use crate::directory::Directory;
use crate::export::{self, Exported};
use crate::mistake::Mistake;
use crate::{check, node, references, schema as schemas, words};
use clap::Args;
use http::Method;
use serde_json::{Value, json};
use signet_admin::USERS;
use signet_admin_client::{CONFLICT, Session, Target};
use signet_moving::PeopleExport;
use signet_terminal::input::confirm_or_refuse;
use signet_terminal::output::{Failure, Output, note, pretty};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a directory is looked at that is watched.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is applied where no file has changed.
const AGAIN: Duration = Duration::from_secs(60);

const ALL: &str = "/declarations";
const PLAN: &str = "/declarations/plan";
const APPLY: &str = "/declarations/apply";

/// `signet plan`
#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    target: Target,
}

/// A directory, and how far it goes.
#[derive(Debug, Args)]
struct Chosen {
    /// The directory, or one file.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Remove what this directory owned before and declares no more.
    #[arg(long)]
    prune: bool,
    /// Take over objects that were made by hand.
    #[arg(long)]
    adopt: bool,
}

/// `signet apply`
#[derive(Debug, Args)]
pub struct Apply {
    #[command(flatten)]
    chosen: Chosen,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Stay, and apply again when a file changes, and each minute against changes by hand.
    #[arg(long, requires = "yes")]
    watch: bool,
    #[command(flatten)]
    target: Target,
}

/// `signet export`
#[derive(Debug, Args)]
pub struct Export {
    /// The directory that is written.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Write over the files of a directory that is not empty.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    people: PeopleExport,
    #[command(flatten)]
    target: Target,
}

/// `signet diff`
#[derive(Debug, Args)]
pub struct Diff {
    /// A server's issuer URL, or the data directory of a development server. Twice: what is, and
    /// what it is compared with.
    #[arg(long = "server", value_name = "URL", required = true)]
    servers: Vec<String>,
    /// PEM file of the authority that a server's certificate comes from: once, or once for each.
    #[arg(long, value_name = "FILE")]
    ca_cert: Vec<PathBuf>,
    /// JSON file with the client_id and client_secret of a client that may read: once, or once for
    /// each.
    #[arg(long, value_name = "FILE")]
    credentials: Vec<PathBuf>,
}

impl Plan {
    /// Exit 0: nothing to change; 1: changes are pending; 2: the directory is wrong.
    ///
    /// # Errors
    /// Every mistake of the directory; a server that cannot be reached.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        let plan = block_on(Session::with(&self.target, async |session| {
            let (_, plan) = planned(session, &self.chosen).await?;
            Ok(plan)
        }))?
        .map_err(Failure::fatal)?;
        let shown = document(&plan);
        let is_empty = has_nothing(&plan);
        output.print(&shown, || {
            let text = words::plan(&plan, words::wants_colours());
            match is_empty {
                true => format!("{text}Nothing to change."),
                false => format!("{text}{}.", words::to_do(&plan)),
            }
        })?;
        match is_empty {
            true => Ok(()),
            false => Err(Failure::answered(1)),
        }
    }
}

impl Apply {
    /// Does exactly what a plan says at this moment, or nothing.
    ///
    /// # Errors
    /// As [`Plan::run`]; where somebody has changed something in between; where nobody said yes.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        if !self.watch {
            return self.once(output);
        }
        let mut applied = None;
        loop {
            let seen = (check::fingerprint(&self.chosen.directory), Instant::now());
            let is_due = applied.as_ref().is_none_or(|(files, at): &(u64, Instant)| {
                *files != seen.0 || seen.1.duration_since(*at) >= AGAIN
            });
            if is_due {
                // What is wrong now may be right in a minute.
                if let Err(failure) = self.once(output) {
                    note(&format!("signet: {}", failure.description()));
                }
                applied = Some(seen);
            }
            std::thread::sleep(LOOK);
        }
    }

    fn once(&self, output: &Output) -> Result<(), Failure> {
        block_on(Session::with(&self.target, async |session| {
            let planned = planned(session, &self.chosen).await;
            let (directory, plan) = planned.map_err(Failure::fatal)?;
            if has_nothing(&plan) && self.watch {
                return Ok(());
            }
            if has_nothing(&plan) {
                return output.print(&document(&plan), || "Nothing to change.".to_owned());
            }
            if !output.json {
                note(words::plan(&plan, words::wants_colours()).trim_end());
            }
            confirm_or_refuse(self.yes, &format!("{}. Apply?", words::to_do(&plan)))?;
            let mut body = body(&directory, &self.chosen, true)
                .map_err(|mistakes| refusal(&self.chosen.directory, &mistakes))?;
            body["plan"] = plan["plan"].clone();
            let done = session.call(Method::POST, APPLY, Some(&body), None).await;
            let done = done.map_err(|failure| match failure.error() {
                CONFLICT => Failure::no(
                    CONFLICT,
                    "somebody changed the server since the plan was made; nothing was done: plan again",
                ),
                _ => failure,
            })?;
            output.print(&document(&done.value), || {
                format!("Applied: {}.", words::done(&done.value))
            })
        }))?
    }
}

impl Export {
    /// Writes what a server has into a directory, and its people where they are wanted.
    ///
    /// # Errors
    /// A directory that is not empty, or cannot be written; what the server refuses.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        let folder = self.directory.as_path();
        let failed = |e: std::io::Error| {
            Failure::unusable(format!("cannot write {}: {e}", folder.display()))
        };
        let is_full = folder
            .read_dir()
            .is_ok_and(|mut entries| entries.next().is_some());
        if is_full && !self.force {
            return Err(Failure::unusable(format!(
                "{} is not empty: --force writes over what is there",
                folder.display()
            )));
        }
        let people = self.people.prepare(folder)?;
        let target = match self.people.needs_two_factors() {
            true => self.target.clone().with_two_factors(),
            false => self.target.clone(),
        };
        let (objects, people) = block_on(Session::with(&target, async |session| {
            let mut objects = export::read(&session.get(ALL).await?);
            let Some(people) = &people else {
                return Ok((objects, Value::Null));
            };
            // Whoever may not have the people gets nothing.
            let people = people.write(session).await?;
            // An account that a declaration made would be in the way of the one that is imported.
            objects.retain(|object| object.kind != USERS.name);
            Ok((objects, people))
        }))??;
        let (files, secrets) = export::files(&objects);
        std::fs::create_dir_all(folder).map_err(failed)?;
        for (name, text) in &files {
            std::fs::write(folder.join(name), text).map_err(failed)?;
        }
        for place in &secrets {
            note(&format!(
                "signet: to be filled: {}",
                folder.join(place).display()
            ));
        }
        let names: Vec<&String> = files.keys().collect();
        let mut answer = json!({ "files": names, "secrets": secrets });
        if !people.is_null() {
            answer["people"] = people.clone();
        }
        output.print(&answer, || {
            let (files, secrets) = (files.len(), secrets.len());
            let shown = folder.display();
            let exported = match (&people["people"], people["file"].as_str()) {
                (number, Some(file)) => format!("; {number} people in {file}"),
                _ => String::new(),
            };
            format!("{shown}: {files} files, {secrets} secrets that have to be filled{exported}")
        })
    }
}

impl Diff {
    /// Exit 0: the servers have the same; 1: what differs is printed.
    ///
    /// # Errors
    /// A server that cannot be reached.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        let [one, other] = self.servers.as_slice() else {
            return Err(Failure::unusable(
                "two servers are compared: --server A --server B",
            ));
        };
        let of = |list: &[PathBuf], at: usize| list.get(at).or(list.first()).cloned();
        let mut found: Vec<Vec<Exported>> = Vec::new();
        for (at, server) in [one, other].into_iter().enumerate() {
            let ca = of(&self.ca_cert, at);
            let target = Target::at(server, ca, of(&self.credentials, at));
            let objects = block_on(Session::with(&target, async |session| {
                Ok(export::read(&session.get(ALL).await?))
            }))?;
            found.push(objects.map_err(Failure::fatal)?);
        }
        let difference = export::difference(&found[0], &found[1]);
        let is_same = has_nothing(&difference);
        output.print(&difference, || match is_same {
            true => "No difference.".to_owned(),
            false => words::plan(&difference, words::wants_colours())
                .trim_end()
                .to_owned(),
        })?;
        match is_same {
            true => Ok(()),
            false => Err(Failure::answered(1)),
        }
    }
}

/// Checks a directory without a server.
///
/// # Errors
/// Every mistake.
pub fn check_directory(path: &Path, output: &Output) -> Result<(), Failure> {
    let directory = check::directory(path);
    match directory.mistakes.is_empty() {
        false => Err(refusal(path, &directory.mistakes)),
        true => {
            let objects = directory.objects.len();
            let answer = json!({ "valid": true, "directory": directory.name, "objects": objects });
            output.print(&answer, || {
                format!("{}: good, {objects} objects", path.display())
            })
        }
    }
}

/// The JSON Schema of a file of a directory.
///
/// # Errors
/// Where it cannot be printed.
pub fn schema(output: &Output) -> Result<(), Failure> {
    let schema = schemas::whole();
    output.print(&schema, || pretty(&schema))
}

/// Reads a directory and asks the server what it would change.
async fn planned(session: &Session, chosen: &Chosen) -> Result<(Directory, Value), Failure> {
    let path = &chosen.directory;
    if !path.exists() {
        return Err(Failure::unusable(format!("there is no {}", path.display())));
    }
    let mut directory = check::directory(path);
    let known = export::read(&session.get(ALL).await?);
    let known = known.into_iter().map(|one| (one.kind, one.name));
    references::check(&mut directory, &known.collect());
    let mut mistakes = std::mem::take(&mut directory.mistakes);
    let mut plan = Value::Null;
    match body(&directory, chosen, false) {
        Err(found) => mistakes.extend(found),
        Ok(body) => {
            plan = session
                .call(Method::POST, PLAN, Some(&body), None)
                .await?
                .value;
            mistakes.extend(of_server(&plan, &directory));
        }
    }
    match mistakes.is_empty() {
        true => Ok((directory, plan)),
        false => Err(refusal(path, &mistakes)),
    }
}

/// What the server finds wrong, where it stands in the files.
fn of_server(plan: &Value, directory: &Directory) -> Vec<Mistake> {
    let mistakes = plan["mistakes"].as_array().into_iter().flatten();
    let mistakes = mistakes.map(|mistake| {
        let text = |member: &str| mistake[member].as_str().unwrap_or_default();
        let (kind, name, detail) = (text("kind"), text("name"), text("detail"));
        let (what, suggestion) = match detail.split_once("; ") {
            Some((what, suggestion)) => (what, Some(suggestion)),
            None => (detail, None),
        };
        let what = format!("{kind} \"{name}\": {what}");
        let mistake = match directory.find(kind, name) {
            Some(object) => object.mistake(object.line_of(detail), what),
            // It is not declared any more, and cannot be removed.
            None => Mistake::new(&directory.name, 0, what),
        };
        match suggestion {
            Some(suggestion) => mistake.suggest(suggestion),
            None => mistake,
        }
    });
    mistakes.collect()
}

fn body(directory: &Directory, chosen: &Chosen, make: bool) -> Result<Value, Vec<Mistake>> {
    body_of(directory, (chosen.prune, chosen.adopt), make)
}

/// What is sent. `make`: secrets that are to be generated are.
pub(crate) fn body_of(
    directory: &Directory,
    (prune, adopt): (bool, bool),
    make: bool,
) -> Result<Value, Vec<Mistake>> {
    let mut objects = Vec::new();
    let mut mistakes = Vec::new();
    for object in directory.objects.iter().filter(|object| !object.broken) {
        let mut sent = json!({
            "kind": object.declared.kind(), "name": object.name,
            "members": node::to_object(&object.members),
        });
        match object
            .secret
            .as_ref()
            .map(|(place, line)| (place.fetch(make), line))
        {
            None => {}
            Some((Ok(secret), _)) => sent["secret"] = secret.expose().as_str().into(),
            Some((Err(why), line)) => {
                let member = object.declared.secret.unwrap_or_default();
                mistakes.push(object.mistake(*line, format!("{member}: {why}")));
            }
        }
        objects.push(sent);
    }
    match mistakes.is_empty() {
        true => Ok(json!({
            "directory": directory.name, "objects": objects,
            "prune": prune, "adopt": adopt,
        })),
        false => Err(mistakes),
    }
}

/// Every mistake, a line each: exit 2.
fn refusal(path: &Path, mistakes: &[Mistake]) -> Failure {
    let mut mistakes = mistakes.to_vec();
    mistakes.sort();
    mistakes.dedup();
    for mistake in &mistakes {
        note(&mistake.to_string());
    }
    let list: Vec<Value> = mistakes.iter().map(Mistake::to_json).collect();
    let count = mistakes.len();
    let are = if count == 1 { "mistake" } else { "mistakes" };
    let said = format!("{}: {count} {are}; nothing was changed", path.display());
    Failure::no("invalid_directory", said)
        .with(json!({ "valid": false, "problems": list }))
        .fatal()
}

fn has_nothing(plan: &Value) -> bool {
    plan["changes"].as_array().is_none_or(Vec::is_empty)
}

/// What scripts read.
fn document(plan: &Value) -> Value {
    json!({ "changes": plan["changes"], "ends": plan["ends"] })
}

fn block_on<F: Future>(future: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::unusable(format!("cannot start: {e}")))?;
    Ok(runtime.block_on(future))
}
