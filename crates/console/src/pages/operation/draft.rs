//! What a form has: an operation with what it reads, and what was typed.

use http::StatusCode;
use serde_json::Value;
use signet_operation::facts::{Facts, Method};
use signet_operation::problem::Problem;

use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Operation, Reads};
use crate::engine::conflict::Changed;
use crate::engine::fields::{Fields, Wrong};
use crate::engine::form::Form;
use crate::pages::parts;
use crate::session::Session;
use crate::view::shell::Notice;

/// What a form says of itself beside its fields.
pub(super) struct Draft {
    /// Of the path.
    pub(super) segments: Vec<(&'static str, String)>,
    /// The query's members.
    pub(super) query: Vec<(String, String)>,
    /// What replaces: the record as it was read, and its revision.
    pub(super) read: Option<(Value, Option<u64>)>,
    /// What ends with it: a part of the record, how many, and whether there are more.
    pub(super) ends: Vec<(String, usize, bool)>,
    /// What each field shows, by its name.
    pub(super) shown: Vec<(String, String)>,
    pub(super) wrong: Vec<Wrong>,
    pub(super) changed: Vec<Changed>,
    pub(super) notice: Option<Notice>,
    pub(super) status: StatusCode,
}

/// An operation's form, and what of it does not change while it is filled in.
pub(super) struct Sheet {
    pub(super) row: Operation,
    pub(super) reads: Reads,
    pub(super) fields: Option<Fields>,
}

impl Sheet {
    pub(super) fn of(catalog: &Catalog, id: &str) -> Option<Sheet> {
        let row = catalog.operation(id)?;
        let reads = Reads::of(row);
        // What the path says is not said again.
        let kind = catalog.kind_of(row.facts());
        let own: Vec<&str> = match kind {
            Some(kind) if reads.segments.last().copied() == kind.segment() => vec![kind.noun.id],
            _ => Vec::new(),
        };
        let fields = reads.body.as_ref();
        let fields = fields.map(|schema| Fields::of(schema, &reads.schemas, &own));
        Some(Sheet { row, reads, fields })
    }

    pub(super) fn facts(&self) -> &'static Facts {
        self.row.facts()
    }

    /// Nothing is asked: what shows and has all names is shown at once.
    pub(super) fn shows(&self) -> bool {
        self.facts().method == Method::Get
    }

    pub(super) fn names(&self) -> String {
        self.reads.segments.join(", ")
    }
}

pub(super) fn filled(query: &[(String, String)]) -> Vec<(String, String)> {
    let filled = query.iter().filter(|(_, value)| !value.is_empty());
    filled.cloned().collect()
}

/// The form before anything was typed: with the record, where one is replaced.
pub(super) async fn begin(
    session: &Session,
    catalog: &Catalog,
    sheet: &Sheet,
    asked: &Form,
) -> Result<Draft, Problem> {
    let segments: Vec<(&'static str, String)> = sheet
        .reads
        .segments
        .iter()
        .map(|name| {
            (
                *name,
                asked
                    .get(&format!("p.{name}"))
                    .unwrap_or_default()
                    .to_owned(),
            )
        })
        .collect();
    let query = sheet.reads.query.iter().map(|(name, _)| {
        let value = asked.get(&format!("q.{name}")).unwrap_or_default();
        (name.clone(), value.to_owned())
    });
    let mut draft = Draft {
        query: query.collect(),
        read: record(session, catalog, sheet, &segments).await?,
        segments,
        shown: Vec::new(),
        ends: Vec::new(),
        wrong: Vec::new(),
        changed: Vec::new(),
        notice: None,
        status: StatusCode::OK,
    };
    draft.ends = held(session, catalog, sheet, &draft.segments).await;
    let nothing = Value::Null;
    let document = draft
        .read
        .as_ref()
        .map_or(&nothing, |(document, _)| document);
    if let Some(fields) = &sheet.fields {
        for field in &fields.fields {
            let given = asked.get(&format!("b.{}", field.name)).map(str::to_owned);
            let text = given.unwrap_or_else(|| field.text(document));
            draft.shown.push((field.name.clone(), text));
        }
    }
    Ok(draft)
}

/// The record that a `PUT` replaces, or that the operation is about.
pub(super) async fn record(
    session: &Session,
    catalog: &Catalog,
    sheet: &Sheet,
    segments: &[(&'static str, String)],
) -> Result<Option<(Value, Option<u64>)>, Problem> {
    let facts = sheet.facts();
    let is_named = segments.iter().all(|(_, value)| !value.is_empty());
    if facts.method == Method::Get || segments.is_empty() || !is_named {
        return Ok(None);
    }
    let own = catalog.shows(facts).map(|row| (row, segments.to_vec()));
    let of_kind = catalog.kind_of(facts).and_then(|kind| {
        let first = segments
            .iter()
            .find(|(name, _)| Some(*name) == kind.segment())?;
        Some((kind.show()?, vec![first.clone()]))
    });
    let is_part = own.as_ref().is_some_and(|(row, _)| is_list(*row));
    let Some((shows, named)) = own.filter(|_| !is_part).or(of_kind) else {
        return Ok(None);
    };
    let called = Call {
        segments: named,
        ..Call::default()
    };
    match call::perform(session, shows, called).await {
        Ok(reply) => Ok(Some((call::document(&reply), reply.shown_revision()))),
        // A new name: the record is to be made.
        Err(problem) if problem.code() == "not_found" && facts.method == Method::Put => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// What the record holds that an operation on the whole record ends with it.
pub(super) async fn held(
    session: &Session,
    catalog: &Catalog,
    sheet: &Sheet,
    segments: &[(&'static str, String)],
) -> Vec<(String, usize, bool)> {
    let facts = sheet.facts();
    let (Some(kind), [(name, id)]) = (catalog.kind_of(facts), segments) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    if !facts.is_final() || Some(*name) != kind.segment() || id.is_empty() {
        return all;
    }
    for part in kind.parts().into_iter().filter(|part| is_list(*part)) {
        let read = call::read(session, part, Call::of(Some(name), id)).await;
        if let Ok(document) = read {
            let count = parts::items(&document).len();
            let path = part.facts().path.rsplit('/').next().unwrap_or_default();
            all.push((path.to_owned(), count, document["next"].is_string()));
        }
    }
    all
}

/// Whether what it answers is a list.
pub(super) fn is_list(row: Operation) -> bool {
    row.facts().id.starts_with("list")
}

/// What was typed.
pub(super) fn typed(sheet: &Sheet, form: &Form) -> Draft {
    let of = |prefix: &str, name: &str| {
        let value = form.get(&format!("{prefix}.{name}")).unwrap_or_default();
        value.trim().to_owned()
    };
    let read = form
        .get("read")
        .and_then(|text| serde_json::from_str(text).ok());
    let revision = form.get("revision").and_then(|text| text.parse().ok());
    let fields = sheet.fields.iter().flat_map(|fields| &fields.fields);
    Draft {
        segments: sheet
            .reads
            .segments
            .iter()
            .map(|name| (*name, of("p", name)))
            .collect(),
        query: sheet
            .reads
            .query
            .iter()
            .map(|(name, _)| (name.clone(), of("q", name)))
            .collect(),
        read: read.map(|read| (read, revision)),
        shown: fields
            .map(|field| {
                let text = field.typed(|name| form.get(&format!("b.{name}")));
                (field.name.clone(), text)
            })
            .collect(),
        ends: Vec::new(),
        wrong: Vec::new(),
        changed: Vec::new(),
        notice: None,
        status: StatusCode::OK,
    }
}

/// What is to be typed before something ends: what the path names last, or the operation's name.
pub(super) fn subject(draft: &Draft) -> String {
    let named = draft.segments.last().map(|(_, value)| value.clone());
    named.unwrap_or_else(|| "yes".to_owned())
}
