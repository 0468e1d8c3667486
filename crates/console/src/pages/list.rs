//! `/console/{kind}`: a page of the records of a kind, searched, filtered, and selected.
//!
//! A list whose operation searches is asked to; any other is read on, at most [`MAX_READ`] records
//! for a page, and the page says from where it goes on. So no page costs more where there are more
//! people.

use maud::{Markup, html};
use serde_json::Value;
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_request::http::{Context, Response};

use super::{bulk, parts};
use crate::call::{self, Call};
use crate::engine::catalog::{Catalog, Kind, Operation, Reads};
use crate::session::Session;
use crate::view::shell::{Frame, encoded, href};
use crate::view::table::Table;

/// Records of a page.
const PAGE: usize = 50;
/// Records that are read for a page where the console filters them itself.
pub(crate) const MAX_READ: usize = 2000;
/// Records that are read at once then.
const AT_ONCE: usize = 100;

/// What a list is searched for, in every kind.
const SEARCH: &str = "q";
/// The member of an operation that searches.
const SEARCHES: &str = "search";

/// A state that people can be filtered by: its name, its text, and who is in it.
struct State(&'static str, &'static str, fn(&Value) -> bool);

const STATES: &[State] = &[
    State("enabled", "console-enabled", |user| user["enabled"] == true),
    State("disabled", "console-disabled", |user| {
        user["enabled"] == false
    }),
    State("admin", "console-administrators", |user| {
        user["admin"] == true
    }),
    State("invited", "console-invited", |user| {
        user["invitation"].is_object()
    }),
];

/// What is asked for.
pub(super) struct Asked {
    /// See [`SEARCH`].
    words: String,
    /// Members of the operation's query: name, help, value.
    filters: Vec<(String, String, String)>,
    /// Of people.
    state: String,
    group: String,
    after: Option<String>,
}

impl Asked {
    fn of(session: &Session, reads: &Reads) -> Asked {
        let query = session.context.query_params().ok();
        let asked = |name: &str| {
            let value = query.as_ref().and_then(|query| query.get(name));
            value.map(str::trim).unwrap_or_default().to_owned()
        };
        let filters = reads.filters().into_iter();
        let filters = filters.filter(|(name, _)| name != SEARCHES);
        Asked {
            words: asked(SEARCH),
            filters: filters
                .map(|(name, about)| (asked(&name), name, about))
                .map(|(value, name, about)| (name, about, value))
                .collect(),
            state: asked("state"),
            group: asked("group"),
            after: Some(asked("after")).filter(|after| !after.is_empty()),
        }
    }

    fn is_used(&self) -> bool {
        let filled = self.filters.iter().any(|(_, _, value)| !value.is_empty());
        filled
            || [&self.words, &self.state, &self.group]
                .iter()
                .any(|one| !one.is_empty())
    }

    /// The query of a page that asks for the same, without where it begins.
    fn query(&self) -> String {
        let own = [
            (SEARCH, &self.words),
            ("state", &self.state),
            ("group", &self.group),
        ];
        let filters = self
            .filters
            .iter()
            .map(|(name, _, value)| (name.as_str(), value));
        let mut query = String::from("?");
        for (name, value) in own.into_iter().chain(filters) {
            if !value.is_empty() {
                query.push_str(&format!("{name}={}&", encoded(value)));
            }
        }
        query
    }

    /// Whether a record is what is asked for, in what its operation does not look at.
    fn keeps(&self, record: &Value, is_searched: bool) -> bool {
        let words = self.words.to_lowercase();
        let state = STATES.iter().find(|State(name, ..)| *name == self.state);
        let in_group = || {
            let groups = record["groups"].as_array();
            groups.is_some_and(|groups| groups.iter().any(|group| *group == *self.group))
        };
        (is_searched || words.is_empty() || has(record, &words))
            && state.is_none_or(|State(_, _, holds)| holds(record))
            && (self.group.is_empty() || in_group())
    }
}

/// Whether any text in it has these words, which are in lower case.
fn has(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains(words),
        Value::Array(items) => items.iter().any(|item| has(item, words)),
        Value::Object(members) => members.values().any(|member| has(member, words)),
        Value::Number(number) => number.to_string() == words,
        Value::Null | Value::Bool(_) => false,
    }
}

/// A page of records, and where the next one begins.
pub(super) struct Found {
    pub(super) rows: Vec<Value>,
    pub(super) next: Option<String>,
}

/// Reads it.
async fn find(
    session: &Session,
    list: Operation,
    reads: &Reads,
    asked: &Asked,
) -> Result<Found, Problem> {
    let takes = |member: &str| reads.query.iter().any(|(name, _)| name == member);
    let searches = takes(SEARCHES);
    let reads_on =
        !asked.state.is_empty() || !asked.group.is_empty() || !searches && !asked.words.is_empty();
    let limit = if reads_on { AT_ONCE } else { PAGE };
    let mut found = Found {
        rows: Vec::new(),
        next: asked.after.clone(),
    };
    let mut read = 0;
    loop {
        let mut called = Call::default();
        if takes("limit") {
            called = called.asking("limit", limit.to_string());
        }
        if let Some(after) = &found.next {
            called = called.asking("after", after);
        }
        if searches && !asked.words.is_empty() {
            called = called.asking(SEARCHES, &asked.words);
        }
        for (name, _, value) in asked
            .filters
            .iter()
            .filter(|(_, _, value)| !value.is_empty())
        {
            called = called.asking(name, value);
        }
        let document = call::read(session, list, called).await?;
        let rows = parts::items(&document);
        read += limit;
        let kept = rows.into_iter().filter(|row| asked.keeps(row, searches));
        found.rows.extend(kept);
        found.next = document["next"].as_str().map(str::to_owned);
        if !reads_on || found.next.is_none() || found.rows.len() >= PAGE || read >= MAX_READ {
            return Ok(found);
        }
    }
}

/// GET.
pub(crate) async fn show(context: Context) -> Response {
    let session = match Session::of(context).await {
        Ok(session) => session,
        Err(answer) => return answer,
    };
    let slug = session.context.param("kind").unwrap_or_default().to_owned();
    of_kind(session, &slug, async |_, _| html! {}).await
}

/// The page of a kind, with what `further` makes of its records below them.
pub(super) async fn of_kind(
    session: Session,
    slug: &str,
    further: impl AsyncFnOnce(&Session, &Found) -> Markup,
) -> Response {
    let catalog = Catalog::house();
    let kind = catalog.kind(slug);
    let listed = kind.and_then(|kind| Some((kind, kind.list()?)));
    let Some((kind, list)) = listed else {
        return parts::not_found(session);
    };
    let t = session.face();
    let at = format!("/{slug}");
    let reads = Reads::of(list);
    let asked = Asked::of(&session, &reads);
    let query = session.context.query_params().ok();
    let done = query.as_ref().and_then(|query| query.get("done"));
    let title = parts::kind_text(&t, &kind);
    let found = match find(&session, list, &reads, &asked).await {
        Ok(found) => found,
        Err(problem) => return parts::refused(session, &title, &at, &problem),
    };
    let mut frame = Frame::new(&t, title, &at);
    frame.notice = parts::done(&t, &catalog, done);
    frame.tools = html! {
        @if slug == "clients" { (parts::button(&t, "/wizard", &t.text("console-wizard"), "main")) }
        @if let Some(make) = kind.make() {
            @let class = if slug == "clients" { "" } else { "main" };
            (parts::button(&t, &parts::operation_at(make, &[]), &t.text("console-add"), class))
        }
    };
    let below = further(&session, &found).await;
    let acts = bulk::acts_of(&catalog, slug);
    let records = table(&t, &kind, &found.rows, !acts.is_empty());
    let content = html! {
        (filter_form(&t, slug, &asked))
        div #live aria-live="polite" {
            @if acts.is_empty() { (records) } @else {
                form method="post" action=(href(&t, &format!("/bulk/{slug}"))) {
                    input type="hidden" name="form" value=(session.form_token());
                    (records)
                    @if !found.rows.is_empty() { (bulk::choice(&t, &acts)) }
                }
            }
            (pages(&t, &at, &asked, found.next.as_deref()))
            (below)
        }
        (beside(&t, &kind))
    };
    let page = frame.render(&session.visitor(), &catalog, &content);
    session.finish(page)
}

fn filter_form(t: &Face, slug: &str, asked: &Asked) -> Markup {
    let at = format!("/{slug}");
    html! {
        form .filters method="get" action=(href(t, &at)) role="search" aria-label=(t.text("console-filter")) data-live="" {
            div {
                label for="q" { (t.text("console-search")) }
                input #q name=(SEARCH) value=(asked.words) type="search" autocomplete="off" autocapitalize="off" spellcheck="false";
            }
            @if slug == "users" {
                div .narrow {
                    label for="q-state" { (t.text("console-state")) }
                    select #q-state name="state" {
                        option value="" { (t.text("console-any")) }
                        @for State(name, text, _) in STATES {
                            option value=(name) selected[asked.state == *name] { (t.language.find(text).unwrap_or_default()) }
                        }
                    }
                }
                div .narrow {
                    label for="q-group" { (t.text("console-group")) }
                    input #q-group name="group" value=(asked.group) autocomplete="off" autocapitalize="off" spellcheck="false";
                }
            }
            @for (name, about, value) in &asked.filters {
                div .narrow {
                    label for={ "q-" (name) } { (name) }
                    input id={ "q-" (name) } name=(name) value=(value) type="search" autocomplete="off" spellcheck="false" title=(about);
                }
            }
            button type="submit" { (t.text("console-filter")) }
            @if asked.is_used() { a .button href=(href(t, &at)) { (t.text("console-all")) } }
        }
    }
}

/// The table of records: the kind's own columns.
pub(crate) fn table(t: &Face, kind: &Kind<'_>, records: &[Value], is_selected: bool) -> Markup {
    let mut rows = records.to_vec();
    if let Some(by) = kind.noun.sorted_by {
        rows.sort_by_key(|row| parts::text_of(&row[by]).unwrap_or_default().to_lowercase());
    }
    let caption = parts::kind_text(t, kind);
    let id = kind.noun.id;
    let link = |row: &Value| {
        let named = parts::text_of(&row[id])?;
        match (kind.show(), kind.replace()) {
            (None, None) => {
                // What hangs on a person is on the person's page.
                let owner = parts::text_of(&row["user_id"])?;
                Some(href(t, &format!("/users/{}", encoded(&owner))))
            }
            _ => Some(href(t, &parts::record_at(kind, &named))),
        }
    };
    let select = |row: &Value| bulk::key(kind, row).map(|key| (key, bulk::called(kind, row)));
    let select: &dyn Fn(&Value) -> Option<(String, String)> = &select;
    Table {
        caption: &caption,
        columns: kind.noun.columns,
        rows: &rows,
        link: &link,
        acts: &|_| Vec::new(),
        select: is_selected.then_some(select),
    }
    .render(t)
}

fn pages(t: &Face, at: &str, asked: &Asked, next: Option<&str>) -> Markup {
    let query = asked.query();
    let is_further = asked.after.is_some();
    html! {
        @if is_further || next.is_some() {
            nav .pages aria-label=(t.text("console-pages")) {
                @if is_further { a .button href=(href(t, &format!("{at}{}", query.trim_end_matches(['&', '?'])))) { (t.text("console-first-page")) } }
                @if let Some(next) = next {
                    a .button rel="next" href=(href(t, &format!("{at}{query}after={}", encoded(next)))) { (t.text("console-next-page")) }
                }
            }
        }
    }
}

fn beside(t: &Face, kind: &Kind<'_>) -> Markup {
    let rows = kind.beside();
    html! {
        @if !rows.is_empty() {
            section .panel {
                h2 { (t.text("console-acts")) }
                ul .act-list { @for row in rows { li { (parts::act(t, row, &[])) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_are_looked_for_in_every_text_of_a_record() {
        let record = json!({ "client_id": "Shop", "redirect_uris": ["https://shop.example/CB"], "revision": 3 });
        for words in ["shop", "example/cb", "3"] {
            assert!(has(&record, words), "{words}");
        }
        assert!(!has(&record, "revision"), "names of members are no texts");
        let asked = Asked {
            words: String::new(),
            filters: Vec::new(),
            state: "disabled".to_owned(),
            group: "staff".to_owned(),
            after: None,
        };
        let of = |enabled: bool, group: &str| json!({ "enabled": enabled, "groups": [group] });
        assert!(asked.keeps(&of(false, "staff"), true));
        assert!(!asked.keeps(&of(true, "staff"), true));
        assert!(!asked.keeps(&of(false, "guests"), true));
    }
}
