//! Declarations and a server: the plan of them, and doing exactly that plan.
use crate::directory::Directory;
use crate::export;
use crate::mistake::Mistake;
use crate::{node, references};
use http::Method;
use serde_json::{Value, json};
use signet_admin_client::{CONFLICT, Session};
use signet_crypto::hash::sha256;
use signet_terminal::output::{Failure, note};

pub(crate) const ALL: &str = "/declarations";
const PLAN: &str = "/declarations/plan";
const APPLY: &str = "/declarations/apply";

/// Why declarations are not applied.
pub(crate) enum Refused {
    /// They are wrong: nothing of them is applied.
    Mistakes(Vec<Mistake>),
    /// The server refused, or could not be asked.
    Call(Failure),
    /// Nobody said yes.
    Declined(Failure),
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        Refused::Call(failure)
    }
}

impl Refused {
    /// The same, where a command cannot go on.
    pub(crate) fn fatal(self) -> Refused {
        match self {
            Refused::Call(failure) => Refused::Call(failure.fatal()),
            Refused::Mistakes(_) | Refused::Declined(_) => self,
        }
    }

    /// What is said of it, to compare.
    pub(crate) fn words(&self) -> String {
        match self {
            Refused::Mistakes(mistakes) => {
                let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
                lines.join("\n")
            }
            Refused::Call(failure) | Refused::Declined(failure) => failure.description().to_owned(),
        }
    }

    /// As a command fails. `shown`: what the declarations come from.
    pub(crate) fn failure(self, shown: &str) -> Failure {
        match self {
            Refused::Mistakes(mistakes) => refusal(shown, &mistakes),
            Refused::Call(failure) | Refused::Declined(failure) => failure,
        }
    }
}

/// Every mistake, a line each: exit 2.
pub(crate) fn refusal(shown: &str, mistakes: &[Mistake]) -> Failure {
    for mistake in mistakes {
        note(&mistake.to_string());
    }
    let list: Vec<Value> = mistakes.iter().map(Mistake::to_json).collect();
    let count = mistakes.len();
    let are = if count == 1 { "mistake" } else { "mistakes" };
    let said = format!("{shown}: {count} {are}; nothing was changed");
    Failure::no("invalid_directory", said)
        .with(json!({ "valid": false, "problems": list }))
        .fatal()
}

/// Mistakes, each once and in the order of their places.
pub(crate) fn in_order(mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    mistakes.sort();
    mistakes.dedup();
    mistakes
}

/// How far an application goes, and what was applied before by who watches.
pub(crate) struct Applying {
    pub(crate) prune: bool,
    pub(crate) adopt: bool,
    pub(crate) watch: Option<Watch>,
}

/// The hash of what was applied last: with the secrets, so that a secret that was changed is no
/// drift.
#[derive(Default)]
pub(crate) struct Watch(Option<[u8; 32]>);

fn hash(body: &Value) -> [u8; 32] {
    sha256(body.to_string().as_bytes())
}

impl Applying {
    fn body(&self, directory: &Directory, make: bool) -> Result<(Value, [u8; 32]), Vec<Mistake>> {
        let mut body = body_of(directory, (self.prune, self.adopt), make)?;
        let hash = hash(&body);
        if let Some(Watch(last)) = &self.watch {
            let is_as_before = *last == Some(hash);
            body["watch"] = if is_as_before { "unchanged" } else { "changed" }.into();
        }
        Ok((body, hash))
    }

    fn applied(&mut self, hash: [u8; 32]) {
        if let Some(watch) = &mut self.watch {
            *watch = Watch(Some(hash));
        }
    }

    /// Asks the server what it would change. `directory` keeps no mistakes.
    ///
    /// # Errors
    /// Every mistake; a server that cannot be asked.
    pub(crate) async fn plan(
        &mut self,
        session: &Session,
        directory: &mut Directory,
    ) -> Result<Value, Refused> {
        let known = export::read(&session.get(ALL).await?);
        let known = known.into_iter().map(|one| (one.kind, one.name));
        references::check(directory, &known.collect());
        let mut mistakes = std::mem::take(&mut directory.mistakes);
        let mut plan = Value::Null;
        match self.body(directory, false) {
            Err(found) => mistakes.extend(found),
            Ok((body, hash)) => {
                let asked = session.call(Method::POST, PLAN, Some(&body), None).await?;
                plan = asked.value;
                mistakes.extend(of_server(&plan, directory));
                if mistakes.is_empty() && has_nothing(&plan) {
                    self.applied(hash);
                }
            }
        }
        match mistakes.is_empty() {
            true => Ok(plan),
            false => Err(Refused::Mistakes(in_order(mistakes))),
        }
    }

    /// Does exactly this plan, or nothing: what was changed.
    ///
    /// # Errors
    /// Secrets that cannot be read any more; where somebody has changed something in between.
    pub(crate) async fn apply(
        &mut self,
        session: &Session,
        directory: &Directory,
        plan: &Value,
    ) -> Result<Value, Refused> {
        let (mut body, hash) = self.body(directory, true).map_err(Refused::Mistakes)?;
        body["plan"] = plan["plan"].clone();
        let done = session.call(Method::POST, APPLY, Some(&body), None).await;
        let done = done.map_err(|failure| match failure.error() {
            CONFLICT => Failure::no(
                CONFLICT,
                "somebody changed the server since the plan was made; nothing was done: plan again",
            ),
            _ => failure,
        })?;
        self.applied(hash);
        Ok(done.value)
    }
}

/// Whether a plan changes nothing.
pub(crate) fn has_nothing(plan: &Value) -> bool {
    plan["changes"].as_array().is_none_or(Vec::is_empty)
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
            Some(object) => object.mistake(object.line_of(text("member")), what),
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
