//! `signet export DIR --people`: people leave, page by page, into one file.
//!
//! The file is written beside its place and takes it when it is whole: what was cut off is never
//! taken for an export. It is its owner's alone, and with credentials it is encrypted always.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use http::Method;
use serde_json::{Value, json};
use signet_admin_client::{Session, http_client::percent_encode};
use signet_age::{Encrypted, Recipient};
use signet_terminal::output::{Failure, note};
use signet_terminal::progress::Progress;

use super::opening::Closing;
use crate::out::{About, FORMS, Form};
use crate::report::Report;

/// People of a page. A page with credentials is one record of the audit trail.
const PAGE: usize = 100;
/// Records of a page of groups and roles.
const RECORDS: usize = 500;
const PEOPLE: &str = "/user-export";

/// What of people an export takes along.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct PeopleExport {
    /// Write people, too, into people.jsonl.
    #[arg(long)]
    people: bool,
    /// With what they log in with: password hashes, secrets of code apps, passkeys. The file is
    /// encrypted. Only a person who has just shown two factors may have them: --login.
    #[arg(long, requires = "people")]
    with_credentials: bool,
    /// What people are written as: `signet`, or what another server takes (docs/moving-out.md).
    #[arg(long, requires = "people", default_value = "signet", value_parser = PossibleValuesParser::new(FORMS.iter().map(|form| form.name)))]
    form: String,
    #[command(flatten)]
    closing: Closing,
}

/// What is written, before anything is asked of a server.
pub struct Prepared<'a> {
    form: &'static Form,
    recipient: Option<Recipient>,
    credentials: bool,
    folder: &'a Path,
}

impl PeopleExport {
    /// Whether two factors are needed.
    pub fn needs_two_factors(&self) -> bool {
        self.with_credentials
    }

    /// Says whom the file is encrypted to. None: no people are wanted.
    ///
    /// # Errors
    /// Credentials that nobody says how to encrypt.
    pub fn prepare<'a>(&self, folder: &'a Path) -> Result<Option<Prepared<'a>>, Failure> {
        if !self.people {
            return Ok(None);
        }
        let form = FORMS.iter().find(|form| form.name == self.form);
        // Invariant: the argument's values are the table's names.
        let form = form.ok_or_else(|| Failure::unusable("no such form"))?;
        Ok(Some(Prepared {
            form,
            recipient: self.closing.recipient(self.with_credentials)?,
            credentials: self.with_credentials,
            folder,
        }))
    }
}

impl Prepared<'_> {
    /// Writes the file. What it says is for the command's answer.
    ///
    /// # Errors
    /// What the server refuses; a file that cannot be written.
    pub async fn write(&self, session: &Session) -> Result<Value, Failure> {
        // The first page says whether the caller may: nothing is made before.
        let mut page = self.page(session, None).await?;
        let ending = if self.recipient.is_some() { ".age" } else { "" };
        let name = format!("{}{ending}", self.form.file);
        let place = self.folder.join(&name);
        let failed =
            |e: io::Error| Failure::unusable(format!("cannot write {}: {e}", place.display()));
        let about = About {
            credentials: self.credentials,
            groups: records(session, "/groups").await?,
            roles: records(session, "/roles").await?,
        };
        let mut report = Report::default();
        let mut form = (self.form.begin)(about);
        let mut file = Open::create(&place, self.recipient.as_ref()).map_err(failed)?;
        form.head(&mut file.out).map_err(failed)?;
        let progress = Progress::of("exporting");
        let mut count = 0;
        loop {
            for account in page["items"].as_array().into_iter().flatten() {
                let written = form.person(account, &mut report, &mut file.out);
                written.map_err(failed)?;
                count += 1;
            }
            progress.at(count, count);
            match page["next"].as_str() {
                None => break,
                Some(next) => page = self.page(session, Some(next)).await?,
            }
        }
        form.end(&mut file.out).map_err(failed)?;
        file.finish(&place).map_err(failed)?;
        drop(progress);
        if !report.is_empty() {
            note(&report.to_text(self.form.rows));
        }
        Ok(
            json!({ "file": name, "people": count, "form": self.form.name, "report": report.to_json() }),
        )
    }

    async fn page(&self, session: &Session, after: Option<&str>) -> Result<Value, Failure> {
        let after = after.map_or(String::new(), |after| {
            format!("&after={}", percent_encode(after))
        });
        let path = format!("{PEOPLE}?limit={PAGE}{after}");
        let method = match self.credentials {
            true => Method::POST,
            false => Method::GET,
        };
        Ok(session.call(method, &path, None, None).await?.value)
    }
}

/// Every record of a kind.
async fn records(session: &Session, path: &str) -> Result<Vec<Value>, Failure> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let mut page = session
            .get(&format!("{path}?limit={RECORDS}{after}"))
            .await?;
        if let Some(items) = page["items"].as_array_mut() {
            all.append(items);
        }
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", percent_encode(next)),
            None => return Ok(all),
        }
    }
}

/// A file on its way to its place.
struct Open {
    out: Out,
    beside: PathBuf,
    is_done: bool,
}

enum Out {
    Plain(BufWriter<File>),
    Encrypted(Box<Encrypted<BufWriter<File>>>),
    Closed,
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Out::Plain(file) => file.write(bytes),
            Out::Encrypted(file) => file.write(bytes),
            Out::Closed => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::Plain(file) => file.flush(),
            Out::Encrypted(file) => file.flush(),
            Out::Closed => Ok(()),
        }
    }
}

impl Open {
    fn create(place: &Path, recipient: Option<&Recipient>) -> io::Result<Open> {
        if let Some(folder) = place.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut beside = place.as_os_str().to_owned();
        beside.push(".part");
        let beside = PathBuf::from(beside);
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        let file = BufWriter::new(file.open(&beside)?);
        let mut open = Open {
            out: Out::Closed,
            beside,
            is_done: false,
        };
        open.out = match recipient {
            Some(recipient) => Out::Encrypted(Box::new(Encrypted::new(file, recipient)?)),
            None => Out::Plain(file),
        };
        Ok(open)
    }

    fn finish(mut self, place: &Path) -> io::Result<()> {
        let file = match std::mem::replace(&mut self.out, Out::Closed) {
            Out::Plain(file) => file,
            Out::Encrypted(file) => file.finish()?,
            Out::Closed => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        file.into_inner().map_err(|e| e.into_error())?.sync_all()?;
        std::fs::rename(&self.beside, place)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.is_done {
            // What is left of an export that failed is of no use to anybody.
            let _ = std::fs::remove_file(&self.beside);
        }
    }
}
