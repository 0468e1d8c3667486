//! `signet setup`.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::json;
use signet_config::{Config, engine, read};
use signet_console::first;
use signet_crypto::private_file;
use signet_store::Engine;
use signet_terminal::input;
use signet_terminal::output::{Failure, Output, date, note};

use crate::answers::{Asking, host_of, keep_password};
use crate::arguments::Setup;
use crate::certificate::{self, CA_CERT, CA_KEY, For, SERVER_CERT, SERVER_KEY};
use crate::file::{Answers, Certificate};
use crate::paths::{absolute, shell};
use crate::stopped;

/// The file that is written.
const FILE: &str = "signet.toml";

/// Does the command.
pub(crate) fn run(
    arguments: Setup,
    routes: &[&'static str],
    output: &Output,
) -> Result<(), Failure> {
    if !arguments.yes && !input::is_attended() {
        return Err(Failure::unusable(
            "there is no terminal to ask at: --yes takes the flags, and defaults for the rest",
        ));
    }
    let directory = absolute(&arguments.dir);
    let file = directory.join(FILE);
    may_replace(&arguments, &file)?;
    let asking = Asking {
        arguments: &arguments,
        directory: &directory,
        silent: arguments.yes,
    };
    let (answers, password) = asking.all()?;
    let unusable = |path: &Path| {
        let path = path.to_owned();
        move |e: std::io::Error| Failure::unusable(format!("{}: {e}", path.display()))
    };
    private_file::directory(&directory).map_err(unusable(&directory))?;
    let data_dir = directory.join(&answers.data_dir);
    private_file::directory(&data_dir).map_err(unusable(&data_dir))?;
    if let Some(password) = &password {
        keep_password(&directory, password)?;
    }
    let now = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    if answers.certificate == Certificate::SelfMade {
        let host = host_of(&answers.issuer).map_err(Failure::unusable)?;
        certificate::ensure(&data_dir, &host.name, For::OneHost, now).map_err(Failure::unusable)?;
        private_file::give_to_owner(&data_dir, &[CA_CERT, CA_KEY, SERVER_CERT, SERVER_KEY]);
    }
    let text = answers.file();
    let config = checked(&text, &directory, routes)?;
    let replaced = write(&file, &text, now)?;
    let link = link(&config, &directory, now)?;
    tell(
        &answers,
        &file,
        &data_dir,
        replaced.as_deref(),
        &link,
        now,
        output,
    )
}

/// Whether a file that is there may be replaced: by the flag, or by the person.
fn may_replace(arguments: &Setup, file: &Path) -> Result<(), Failure> {
    if arguments.replace || std::fs::symlink_metadata(file).is_err() {
        return Ok(());
    }
    let shown = file.display();
    if arguments.yes {
        let said =
            format!("{shown} is there already, and was not changed: --replace writes another one");
        return Err(Failure::no("exists", said));
    }
    let question = format!("{shown} is there already. Write another one, and keep it beside that?");
    input::confirm(false, &question)
}

/// The configuration, which a start can use as it is.
fn checked(text: &str, directory: &Path, routes: &[&'static str]) -> Result<Config, Failure> {
    let wrong = |said: String| Failure::no("invalid_configuration", said);
    let config = read::parse(text, directory, true).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        wrong(lines.join("\nsignet: "))
    })?;
    on_runtime(async { signet_assembly::rehearse(&config, directory, routes) })?.map_err(wrong)?;
    Ok(config)
}

fn on_runtime<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::unusable(format!("cannot start: {e}")))?;
    Ok(runtime.block_on(work))
}

/// Writes the file, for its owner alone. What it replaced is kept under another name, which is
/// given back.
fn write(file: &Path, text: &str, now: u64) -> Result<Option<PathBuf>, Failure> {
    let failed = |e: std::io::Error| Failure::unusable(format!("{}: {e}", file.display()));
    let replaced = match std::fs::symlink_metadata(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed(e)),
        Ok(_) => {
            let before = file.with_extension(format!("toml.{now}"));
            std::fs::rename(file, &before).map_err(failed)?;
            Some(before)
        }
    };
    // Of two setups at once one writes it.
    private_file::create(file, text.as_bytes()).map_err(failed)?;
    if let Some(directory) = file.parent() {
        private_file::give_to_owner(directory, &[FILE]);
    }
    Ok(replaced)
}

/// The link of the first administrator, or why it was not made.
enum Link {
    Made(String),
    None(&'static str),
}

fn link(config: &Config, directory: &Path, now: u64) -> Result<Link, Failure> {
    let engine = engine::of_config(config, directory).map_err(Failure::unusable)?;
    let Some(store) = stopped::open(&engine)? else {
        return Ok(Link::None(
            "a server runs on this data directory: it was not asked for a link",
        ));
    };
    let made = on_runtime(async {
        let made = first::link_of_setup(&store, &config.issuer, now).await;
        store.close();
        made
    })?;
    if let Engine::Sqlite { directory, .. } = &engine {
        private_file::give_to_owner(directory, &stopped::FILES);
    }
    match made.map_err(|e| Failure::unusable(e.to_string()))? {
        Some(link) => Ok(Link::Made(link)),
        None => Ok(Link::None(
            "the data directory has accounts already: no link was made",
        )),
    }
}

fn tell(
    answers: &Answers,
    file: &Path,
    data_dir: &Path,
    replaced: Option<&Path>,
    link: &Link,
    now: u64,
    output: &Output,
) -> Result<(), Failure> {
    let (certificate, ca) = match answers.certificate {
        Certificate::SelfMade => ("self-made", Some(data_dir.join(CA_CERT))),
        Certificate::Own(..) => ("own", None),
        Certificate::Proxy(_) => ("proxy", None),
    };
    let second = match certificate {
        "self-made" => format!("signet trust --data-dir {}", shell(data_dir)),
        _ => format!("signet login --server {}", answers.issuer),
    };
    let next = [format!("signet serve --config {}", shell(file)), second];
    let end = now + first::MAX_LINK_SECONDS;
    let (url, why) = match link {
        Link::Made(link) => (Some(link), None),
        Link::None(why) => (None, Some(*why)),
    };
    if let Some(why) = why {
        note(why);
    }
    let answer = json!({
        "file": file,
        "replaced": replaced,
        "issuer": answers.issuer,
        "listen": answers.listen.to_string(),
        "data_dir": data_dir,
        "certificate": certificate,
        "ca_cert": ca,
        "link": url,
        "link_expires_at": url.map(|_| end),
        "next": next,
    });
    output.print(&answer, || {
        let mut lines = vec![format!("{} was written", file.display())];
        if let Some(replaced) = replaced {
            lines.push(format!("the one before it is {}", replaced.display()));
        }
        if let Some(ca) = &ca {
            lines.push(format!(
                "a certificate was made; its authority is {}",
                ca.display()
            ));
        }
        lines.push(String::new());
        lines.push("Next:".into());
        lines.extend(next.iter().map(|command| format!("  {command}")));
        if let Some(url) = url {
            lines.push(String::new());
            lines.push(format!(
                "When it serves, this link makes the first administrator, once, until {}:\n{url}",
                date(end)
            ));
        }
        lines.join("\n")
    })
}
