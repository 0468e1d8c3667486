//! The commands: `plan`, `apply`, `export`, `diff`, and the check of a directory.
use crate::applying::{ALL, Applying, Refused, has_nothing, in_order, refusal};
use crate::directory::Directory;
use crate::export::{self, Exported};
use crate::kubernetes::{self, InCluster};
use crate::watch::{self, Printed};
use crate::{check, schema as schemas, words};
use clap::Args;
use serde_json::{Value, json};
use signet_admin::USERS;
use signet_admin_client::{Session, Target};
use signet_moving::PeopleExport;
use signet_terminal::input::confirm;
use signet_terminal::output::{Failure, Output, note, pretty};
use std::path::{Path, PathBuf};

/// `signet plan`
#[derive(Debug, Args)]
pub struct Plan {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    target: Target,
}

/// What declares, and how far it goes.
#[derive(Debug, Args)]
struct Chosen {
    /// The directory, or one file.
    #[arg(value_name = "DIR", required_unless_present = "kubernetes")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    cluster: InCluster,
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
    /// Stay, and apply again when a declaration changes, and each minute against changes by hand.
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
        let plan = block_on(async {
            let mut directory = match self.chosen.cluster()? {
                Some(cluster) => cluster.read().await?.directory,
                None => self.chosen.read()?,
            };
            let mut applying = self.chosen.applying(false);
            let planned = Session::with(&self.target, async |session| {
                Ok(applying.plan(session, &mut directory).await)
            });
            planned
                .await?
                .map_err(|refused| refused.failure(&self.chosen.shown()))
        })?
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

impl Chosen {
    /// The cluster, where the declarations are in one.
    fn cluster(&self) -> Result<Option<kubernetes::Cluster>, Failure> {
        self.cluster.find(&|name| std::env::var(name))
    }

    /// The path of a directory. The command line's rules: it is there, or else a cluster is.
    fn path(&self) -> &Path {
        self.directory.as_deref().unwrap_or(Path::new("."))
    }

    /// Where declarations come from, for people.
    fn shown(&self) -> String {
        match &self.directory {
            Some(path) => path.display().to_string(),
            None => "Kubernetes".to_owned(),
        }
    }

    fn read(&self) -> Result<Directory, Failure> {
        let path = self.path();
        match path.exists() {
            true => Ok(check::directory(path)),
            false => Err(Failure::unusable(format!("there is no {}", path.display()))),
        }
    }

    fn applying(&self, is_watched: bool) -> Applying {
        Applying {
            prune: self.prune,
            adopt: self.adopt,
            watch: is_watched.then(Default::default),
        }
    }
}

impl Apply {
    /// Does exactly what a plan says at this moment, or nothing. With `--watch` again and again,
    /// until it is interrupted.
    ///
    /// # Errors
    /// As [`Plan::run`]; where somebody has changed something in between; where nobody said yes.
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        block_on(async {
            let cluster = self.chosen.cluster()?;
            let work = async {
                match (&cluster, self.watch) {
                    (Some(cluster), true) => self.watch_cluster(cluster, output).await,
                    (None, true) => self.watch_directory(output).await,
                    (cluster, false) => self.once(cluster.as_ref(), output).await,
                }
            };
            match self.watch {
                true => watch::until_stopped(work).await,
                false => work.await,
            }
        })?
    }

    async fn once(
        &self,
        cluster: Option<&kubernetes::Cluster>,
        output: &Output,
    ) -> Result<(), Failure> {
        let mut applying = self.chosen.applying(false);
        let done = match cluster {
            None => {
                let directory = self.chosen.read().map_err(Failure::fatal)?;
                self.apply(&mut applying, directory, output).await
            }
            Some(cluster) => {
                let found = cluster.read().await.map_err(Failure::fatal)?;
                self.apply_found(&mut applying, cluster, found, output)
                    .await
            }
        };
        done.map_err(|refused| refused.failure(&self.chosen.shown()))
    }

    async fn watch_directory(&self, output: &Output) -> Result<(), Failure> {
        let mut applying = self.chosen.applying(true);
        let mut printed = Printed::default();
        let path = self.chosen.path();
        loop {
            // Looked at before it is read, so that no change between the two is missed.
            let mut looking = watch::Looking::at(path);
            let done = match self.chosen.read() {
                // Written to while it was read: what was read may be half of it.
                Ok(_) if looking.has_changed() => {
                    looking.settle().await;
                    continue;
                }
                Ok(directory) => self.apply(&mut applying, directory, output).await,
                Err(failure) => Err(failure.into()),
            };
            printed.outcome(done, &self.chosen.shown());
            looking.change().await;
        }
    }

    async fn watch_cluster(
        &self,
        cluster: &kubernetes::Cluster,
        output: &Output,
    ) -> Result<(), Failure> {
        let mut applying = self.chosen.applying(true);
        let mut printed = Printed::default();
        loop {
            let done = match cluster.read().await {
                Ok(found) => {
                    let seen = found.seen();
                    let done = self.apply_found(&mut applying, cluster, found, output);
                    printed.outcome(done.await, &self.chosen.shown());
                    cluster.change(&seen, watch::AGAIN).await;
                    continue;
                }
                Err(failure) => Err(failure.into()),
            };
            printed.outcome(done, &self.chosen.shown());
            tokio::time::sleep(kubernetes::RETRY).await;
        }
    }

    /// Applies what a cluster declares, and says to each object how it went.
    async fn apply_found(
        &self,
        applying: &mut Applying,
        cluster: &kubernetes::Cluster,
        found: kubernetes::Found,
        output: &Output,
    ) -> Result<(), Refused> {
        let kubernetes::Found {
            directory,
            resources,
            ..
        } = found;
        let done = self.apply(applying, directory, output).await;
        cluster.report(&resources, done.as_ref().err(), now()).await;
        done
    }

    async fn apply(
        &self,
        applying: &mut Applying,
        mut directory: Directory,
        output: &Output,
    ) -> Result<(), Refused> {
        let done = Session::with(&self.target, async |session| {
            // What a refusal has to say is not the session's.
            Ok(self
                .applied(applying, session, &mut directory, output)
                .await)
        });
        done.await.unwrap_or_else(|failure| Err(failure.into()))
    }

    async fn applied(
        &self,
        applying: &mut Applying,
        session: &Session,
        directory: &mut Directory,
        output: &Output,
    ) -> Result<(), Refused> {
        let plan = applying.plan(session, directory).await;
        let plan = plan.map_err(Refused::fatal)?;
        if has_nothing(&plan) && self.watch {
            return Ok(());
        }
        if has_nothing(&plan) {
            let said = || "Nothing to change.".to_owned();
            return Ok(output.print(&document(&plan), said)?);
        }
        if !output.json {
            note(words::plan(&plan, words::wants_colours()).trim_end());
        }
        let question = format!("{}. Apply?", words::to_do(&plan));
        confirm(self.yes, &question).map_err(Refused::Declined)?;
        let done = applying.apply(session, directory, &plan).await?;
        let said = || format!("Applied: {}.", words::done(&done));
        Ok(output.print(&document(&done), said)?)
    }
}

/// Unix seconds.
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
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
        false => {
            let mistakes = in_order(directory.mistakes);
            Err(refusal(&path.display().to_string(), &mistakes))
        }
        true => {
            let objects = directory.objects.len();
            let answer = json!({ "valid": true, "directory": directory.name, "objects": objects });
            output.print(&answer, || {
                format!("{}: good, {objects} objects", path.display())
            })
        }
    }
}

/// The CustomResourceDefinitions of Kubernetes, as `kubectl apply` reads them: YAML, or a list in
/// JSON.
///
/// # Errors
/// Where they cannot be printed.
pub fn kubernetes_schema(output: &Output) -> Result<(), Failure> {
    let definitions = kubernetes::definitions();
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": definitions });
    output.print(&list, || {
        kubernetes::yaml(&definitions).trim_end().to_owned()
    })
}

/// The JSON Schema of a file of a directory.
///
/// # Errors
/// Where it cannot be printed.
pub fn schema(output: &Output) -> Result<(), Failure> {
    let schema = schemas::whole();
    output.print(&schema, || pretty(&schema))
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
