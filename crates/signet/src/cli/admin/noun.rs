//! Keys, scopes and resource servers, and what all nouns of the admin API share. Each verb is one
//! request; people get tables, scripts the API's own JSON.

use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value};
use signet_admin::{CLIENTS, KEYS, Noun, RESOURCES, SCOPES};

use super::fields::{self, Field};
use crate::cli::{Failure, Output, block_on, output};
use signet_admin_client::http_client::percent_encode;
use signet_admin_client::{CONFLICT, Session, Target};
use signet_terminal::input;

/// Leave for what cannot be undone.
#[derive(Clone, Copy, Debug, Args)]
#[group(skip)]
pub struct Leave {
    /// Do not ask. What cannot be undone wants this where there is no terminal to ask at.
    #[arg(long)]
    yes: bool,
}

impl Leave {
    /// For what cannot be undone: asks the person, and refuses where nobody can be asked.
    pub fn ask(self, question: &str) -> Result<(), Failure> {
        input::confirm(self.yes, question)
    }

    /// For what can be had again: asks the person, if there is one.
    pub fn ask_a_person(self, question: &str) -> Result<(), Failure> {
        input::confirm_at_terminal(self.yes, question)
    }
}

/// How much of a list.
#[derive(Clone, Debug, Args)]
#[group(skip)]
pub struct Paging {
    /// At most so many.
    #[arg(long, default_value_t = 1000)]
    pub limit: usize,
}

/// `signet key ...`
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// List signing keys and where they are in their life.
    #[command(after_help = "Example:\n  signet key list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Let the next keys take over, as soon as they have been published for long enough.
    #[command(after_help = "Example:\n  signet key rotate --alg ES256")]
    Rotate {
        /// One `alg` of the list of keys; all unless given.
        #[arg(long)]
        alg: Option<String>,
        /// The current keys may be in other hands: withdraw them at once, with everything that they
        /// signed.
        #[arg(long)]
        compromised: bool,
        /// With --compromised: the published next keys, too.
        #[arg(long, requires = "compromised")]
        standby_too: bool,
        /// Not a signing key, but the key that encrypts data at rest: a new one, and everything
        /// re-encrypted.
        #[arg(long, conflicts_with_all = ["alg", "compromised"])]
        sealing: bool,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet scope ...`
#[derive(Debug, Subcommand)]
pub enum ScopeCommand {
    /// List scopes.
    #[command(after_help = "Example:\n  signet scope list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Make a scope, or change it.
    #[command(
        after_help = "Example:\n  signet scope add orders:read \"See your orders\" --in de=\"Deine Bestellungen sehen\""
    )]
    Add {
        /// Its name.
        name: String,
        /// What people read when they are asked.
        description: String,
        /// The same in another language, by its tag (de, pt-BR); repeatable. These replace the
        /// texts that it had; left out, it keeps them. An empty TEXT leaves the language out.
        #[arg(long = "in", value_name = "LANGUAGE=TEXT", value_parser = in_language)]
        descriptions: Vec<(String, String)>,
        /// Leave it out of the metadata.
        #[arg(long)]
        unpublished: bool,
        /// The claims that it gives: a JSON list of rows (docs/claims.md). Left out: those that it
        /// gave before.
        #[arg(long, value_name = "JSON")]
        claims: Option<Value>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a scope.
    #[command(after_help = "Example:\n  signet scope remove orders:read")]
    Remove {
        /// Its name.
        name: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet resource ...`
#[derive(Debug, Subcommand)]
pub enum ResourceCommand {
    /// List resource servers.
    #[command(after_help = "Example:\n  signet resource list")]
    List {
        #[command(flatten)]
        target: Target,
    },
    /// Show one resource server.
    #[command(after_help = "Example:\n  signet resource show https://api.example.com")]
    Show {
        /// Its identifier.
        id: String,
        #[command(flatten)]
        target: Target,
    },
    /// Make a resource server (RFC 8707).
    #[command(
        after_help = "Example:\n  signet resource add https://api.example.com scope=orders:read"
    )]
    Add {
        /// Its identifier, a URI.
        id: String,
        /// Further members.
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Change a resource server.
    #[command(
        after_help = "Example:\n  signet resource set https://api.example.com access_token_format=compact"
    )]
    Set {
        /// Its identifier.
        id: String,
        /// Members to change.
        #[arg(value_name = "NAME=VALUE", required = true)]
        fields: Vec<Field>,
        #[command(flatten)]
        target: Target,
    },
    /// Remove a resource server.
    #[command(after_help = "Example:\n  signet resource remove https://api.example.com")]
    Remove {
        /// Its identifier.
        id: String,
        #[command(flatten)]
        leave: Leave,
        #[command(flatten)]
        target: Target,
    },
}

/// `signet key ...`
pub fn key(command: KeyCommand, output: &Output) -> Result<(), Failure> {
    match command {
        KeyCommand::List { target } => list(&KEYS, &target, &Paging { limit: 1000 }, output),
        KeyCommand::Rotate {
            alg,
            compromised,
            standby_too,
            sealing,
            leave,
            target,
        } => {
            if compromised {
                leave.ask("Withdraw the current keys, and everything that they signed?")?;
            }
            if sealing {
                let nothing = Value::Object(Map::new());
                return send(
                    &target,
                    Method::POST,
                    "/keys/sealing/rotate",
                    &nothing,
                    output,
                    members,
                );
            }
            let mut body = Map::new();
            if let Some(alg) = &alg {
                body.insert("alg".into(), alg.as_str().into());
            }
            body.insert("compromised".into(), compromised.into());
            body.insert("standby_too".into(), standby_too.into());
            send(
                &target,
                Method::POST,
                "/keys/rotate",
                &Value::Object(body),
                output,
                |answer| rotated(answer, alg.as_deref(), compromised),
            )
        }
    }
}

/// What a rotation comes to: which key signs, and which one is next from when. The keys themselves
/// are for `key list`.
fn rotated(answer: &Value, alg: Option<&str>, compromised: bool) -> String {
    let keys = items(answer).map_or(&[][..], Vec::as_slice);
    let mut lines = Vec::new();
    let of_kind = |key: &&Value| alg.is_none_or(|alg| key["alg"] == alg);
    for active in keys
        .iter()
        .filter(of_kind)
        .filter(|k| k["phase"] == "active")
    {
        let name = cell("alg", &active["alg"]);
        let next = keys
            .iter()
            .find(|k| k["phase"] == "standby" && k["alg"] == active["alg"]);
        let from = next.and_then(|next| next["signs_from"].as_u64());
        let signs = format!("{name}: the key {} signs now", cell("kid", &active["kid"]));
        lines.push(match (compromised, from) {
            (true, _) => signs,
            (false, Some(from)) => format!(
                "{signs}; the next one signs from {}, and is published until then",
                output::date(from)
            ),
            (false, None) => format!(
                "{signs}; the next one is being made, and `signet key list` says from when it signs"
            ),
        });
    }
    if compromised {
        lines.push("What the withdrawn keys signed is refused from now on.".into());
    }
    lines.join("\n")
}

/// `signet scope ...`
pub fn scope(command: ScopeCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ScopeCommand::List { target } => list(&SCOPES, &target, &Paging { limit: 1000 }, output),
        ScopeCommand::Remove {
            name,
            leave,
            target,
        } => remove(&SCOPES, &target, &name, leave, output),
        ScopeCommand::Add {
            name,
            description,
            descriptions,
            unpublished,
            claims,
            target,
        } => {
            let mut body =
                serde_json::json!({ "description": description, "published": !unpublished });
            if let Some(claims) = claims {
                body["claims"] = claims;
            }
            if !descriptions.is_empty() {
                body["descriptions"] = texts(descriptions)?;
            }
            send(
                &target,
                Method::PUT,
                &item(&SCOPES, &name),
                &body,
                output,
                |_| format!("{name} was made"),
            )
        }
    }
}

/// `LANGUAGE=TEXT`. The server says which tags are tags.
fn in_language(text: &str) -> Result<(String, String), &'static str> {
    let (language, text) = text.split_once('=').ok_or("expected LANGUAGE=TEXT")?;
    Ok((language.to_owned(), text.to_owned()))
}

/// Texts by their languages, but for the empty ones.
fn texts(arguments: Vec<(String, String)>) -> Result<Value, Failure> {
    let mut texts = Map::new();
    for (language, text) in arguments {
        let twice = format!("--in {language} is given twice");
        if texts.insert(language, text.into()).is_some() {
            return Err(Failure::no("invalid_request", twice));
        }
    }
    texts.retain(|_, text| text != "");
    Ok(Value::Object(texts))
}

/// `signet resource ...`
pub fn resource(command: ResourceCommand, output: &Output) -> Result<(), Failure> {
    match command {
        ResourceCommand::List { target } => {
            list(&RESOURCES, &target, &Paging { limit: 1000 }, output)
        }
        ResourceCommand::Show { id, target } => show(&RESOURCES, &target, &id, output),
        ResourceCommand::Remove { id, leave, target } => {
            remove(&RESOURCES, &target, &id, leave, output)
        }
        ResourceCommand::Set { id, fields, target } => {
            set(&RESOURCES, &target, &id, &fields, output)
        }
        ResourceCommand::Add { id, fields, target } => {
            let body = Value::Object(record(&RESOURCES, &fields)?);
            send(
                &target,
                Method::PUT,
                &item(&RESOURCES, &id),
                &body,
                output,
                |_| format!("{id} was made"),
            )
        }
    }
}

/// Members of a record from `NAME=VALUE` arguments.
pub fn record(noun: &Noun, fields: &[Field]) -> Result<Map<String, Value>, Failure> {
    let mut record = Map::new();
    fields::put(&mut record, fields, &lists(noun))?;
    Ok(record)
}

/// The path of one item.
pub fn item(noun: &Noun, id: &str) -> String {
    format!("{}/{}", noun.path(), percent_encode(id))
}

/// A collection, page after page, up to the limit.
pub fn list(noun: &Noun, target: &Target, paging: &Paging, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let found = all(session, noun.path(), paging.limit).await?;
        print_list(noun, found, paging, output)
    }))?
}

/// A list that was read, in an order that says something to a person.
pub fn print_list(
    noun: &Noun,
    mut found: Vec<Value>,
    paging: &Paging,
    output: &Output,
) -> Result<(), Failure> {
    if let Some(name) = noun.sorted_by {
        found.sort_by(|a, b| a[name].as_str().cmp(&b[name].as_str()));
    }
    let text = rows_table(noun, &found);
    was_cut(&found, paging);
    output.print(&Value::Array(found), || text)
}

/// Says on standard error that a list has more than was asked for, for people and scripts alike.
fn was_cut(found: &[Value], paging: &Paging) {
    if found.len() == paging.limit {
        output::note(&format!(
            "the first {}; there may be more: --limit N",
            paging.limit
        ));
    }
}

/// At most `limit` items of a collection.
pub async fn all(session: &Session, path: &str, limit: usize) -> Result<Vec<Value>, Failure> {
    let mut all: Vec<Value> = Vec::new();
    let mut after = String::new();
    while all.len() < limit {
        let page = session
            .get(&format!(
                "{path}{}limit={}{after}",
                if path.contains('?') { '&' } else { '?' },
                (limit - all.len()).clamp(1, 100)
            ))
            .await?;
        all.extend(items(&page).into_iter().flatten().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={}", percent_encode(next)),
            None => break,
        }
    }
    all.truncate(limit);
    Ok(all)
}

/// The items of a list answer.
fn items(answer: &Value) -> Option<&Vec<Value>> {
    answer["items"].as_array()
}

/// Items as a table.
pub fn rows_table(noun: &Noun, rows: &[Value]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| noun.columns.iter().map(|c| cell(c, &row[*c])).collect())
        .collect();
    output::table(noun.columns, &rows)
}

pub fn cell(column: &str, value: &Value) -> String {
    let is_time = column.ends_with("_at")
        || column.ends_with("_time")
        || column.ends_with("_from")
        || column.ends_with("_since")
        || column.ends_with("_seen");
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Number(n) if is_time => n.as_u64().map_or_else(|| n.to_string(), output::date),
        Value::Array(list) => {
            let parts: Vec<String> = list.iter().map(|v| cell(column, v)).collect();
            parts.join(" ")
        }
        // What a record holds in a record: an invitation, with its end as a date.
        Value::Object(members) => {
            let of_members = members.iter().filter(|(_, value)| !value.is_null());
            let parts: Vec<String> = of_members
                .map(|(name, value)| format!("{name}={}", cell(name, value)))
                .collect();
            parts.join(" ")
        }
        other @ (Value::Bool(_) | Value::Number(_)) => other.to_string(),
    }
}

/// One item.
pub fn show(noun: &Noun, target: &Target, id: &str, output: &Output) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let value = session.get(&item(noun, id)).await?;
        output.print(&value, || members(&value))
    }))?
}

/// One item as lines.
pub fn members(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return output::pretty(value);
    };
    let rows: Vec<Vec<String>> = object
        .iter()
        .filter(|(_, v)| !v.is_null())
        .map(|(name, v)| vec![name.clone(), cell(name, v)])
        .collect();
    output::table(&["member", "value"], &rows)
}

/// How often additions to a list are tried on what others wrote meanwhile. Each time somebody
/// else's went through.
const MAX_TRIES: usize = 32;

/// Changes members of an item: reads it, and replaces what was read, or nothing if somebody else
/// was faster: then it is exit 1 and `conflict`, but for additions and removals of single elements,
/// which merge. A member set to null goes back to its default.
pub async fn change(
    session: &Session,
    noun: &Noun,
    id: &str,
    fields: &[Field],
) -> Result<Value, Failure> {
    change_if(session, noun, id, fields, |_, _| Ok(())).await
}

/// The same, if `may` allows it, which sees the record before and after.
pub async fn change_if(
    session: &Session,
    noun: &Noun,
    id: &str,
    fields: &[Field],
    may: impl Fn(&Map<String, Value>, &Map<String, Value>) -> Result<(), Failure>,
) -> Result<Value, Failure> {
    let path = item(noun, id);
    let lists = lists(noun);
    let mut tries = 0;
    loop {
        let read = session.call(Method::GET, &path, None, None).await?;
        let Value::Object(mut record) = read.value else {
            return Err(Failure::unusable("the server's answer is no record"));
        };
        let before = record.clone();
        fields::put(&mut record, fields, &lists)?;
        record.retain(|_, value| !value.is_null());
        may(&before, &record)?;
        let body = Value::Object(record);
        let written = session
            .call(Method::PUT, &path, Some(&body), read.etag.as_deref())
            .await;
        tries += 1;
        match written {
            Err(e) if e.error() == CONFLICT && fields::merge(fields) && tries < MAX_TRIES => {}
            done => return Ok(done?.value),
        }
    }
}

/// The same as a command.
pub fn set(
    noun: &Noun,
    target: &Target,
    id: &str,
    fields: &[Field],
    output: &Output,
) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let written = change(session, noun, id, fields).await?;
        output.print(&written, || secret_once(&written))
    }))?
}

/// The members that are lists.
fn lists(noun: &Noun) -> Vec<String> {
    let fields = noun.fields().into_iter();
    fields
        .filter(|field| field.is_list)
        .map(|field| field.name)
        .collect()
}

/// Removes an item.
pub fn remove(
    noun: &Noun,
    target: &Target,
    id: &str,
    leave: Leave,
    output: &Output,
) -> Result<(), Failure> {
    leave.ask(&format!("Remove {id} for good?"))?;
    block_on(Session::with(target, async |session| {
        let own = session.acts_as_client();
        if noun.path() == CLIENTS.path() && own.is_some_and(|own| own == id) {
            leave.ask(&format!(
                "{id} is the client that this command acts as, and it would administer no more."
            ))?;
        }
        session
            .call(Method::DELETE, &item(noun, id), None, None)
            .await?;
        removed(id, output)
    }))?
}

/// Ends everything of an item.
pub async fn revoke(
    session: &Session,
    path: &str,
    name: &str,
    output: &Output,
) -> Result<(), Failure> {
    session
        .call(Method::POST, &format!("{path}/revoke"), None, None)
        .await?;
    output.print(&serde_json::json!({ "revoked": name }), || {
        format!("everything that was issued to {name} is revoked")
    })
}

/// Says that something is gone.
pub fn removed(id: &str, output: &Output) -> Result<(), Failure> {
    output.print(&serde_json::json!({ "removed": id }), || {
        format!("{id} was removed")
    })
}

/// One call with a body, and its answer.
pub fn send(
    target: &Target,
    method: Method,
    path: &str,
    body: &Value,
    output: &Output,
    text: impl FnOnce(&Value) -> String,
) -> Result<(), Failure> {
    block_on(Session::with(target, async |session| {
        let answer = session.call(method, path, Some(body), None).await?;
        output.print(&answer.value, || text(&answer.value))
    }))?
}

/// A new client's record, with a word about the secret.
pub fn secret_once(answer: &Value) -> String {
    let mut text = members(answer);
    if answer.get("client_secret").is_some() {
        text.push_str("\n\nThe secret is shown this once; the server keeps a hash of it.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_several_languages_are_one_member_and_an_empty_one_leaves_its_language_out() {
        let given = |arguments: &[&str]| {
            let arguments = arguments.iter().map(|text| in_language(text).unwrap());
            texts(arguments.collect())
        };
        let body = given(&["de=Deine = Bestellungen", "fr=Tes commandes", "it="]).unwrap();
        let expected = serde_json::json!({ "de": "Deine = Bestellungen", "fr": "Tes commandes" });
        assert_eq!(body, expected);
        assert_eq!(given(&["de="]).unwrap(), serde_json::json!({}));
        let twice = given(&["de=a", "de=b"]).unwrap_err();
        assert!(format!("{twice:?}").contains("--in de is given twice"));
        assert!(in_language("de").is_err());
    }

    #[test]
    fn a_moment_is_shown_as_a_date_whatever_its_column_is_called() {
        for column in [
            "created_at",
            "known_since",
            "first_seen",
            "last_seen",
            "valid_from",
        ] {
            assert_eq!(
                cell(column, &951_826_154.into()),
                "2000-02-29T12:09:14Z",
                "{column}"
            );
        }
        assert_eq!(cell("count", &951_826_154.into()), "951826154");
    }
}
