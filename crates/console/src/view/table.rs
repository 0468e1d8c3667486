//! Tables of records.

use maud::{Markup, html};
use serde_json::Value;
use signet_pages::Face;
use signet_texts::Arg;

use super::values;

/// See [`Table::select`].
pub(crate) type Selects<'a> = dyn Fn(&Value) -> Option<(String, String)> + 'a;

/// A table: its members, its rows, and where a row's name leads.
pub(crate) struct Table<'a> {
    pub(crate) caption: &'a str,
    pub(crate) columns: &'a [&'a str],
    pub(crate) rows: &'a [Value],
    /// The address of a row's page.
    pub(crate) link: &'a dyn Fn(&Value) -> Option<String>,
    /// What can be done with a row.
    pub(crate) acts: &'a dyn Fn(&Value) -> Vec<(String, String)>,
    /// What a selected row is called in a form: its key, and its name for people. None: rows are
    /// not selected here.
    pub(crate) select: Option<&'a Selects<'a>>,
}

/// A member's name above its column: as words.
pub(crate) fn heading(column: &str) -> String {
    column.replace('_', " ")
}

impl Table<'_> {
    pub(crate) fn render(&self, t: &Face) -> Markup {
        if self.rows.is_empty() && self.columns.is_empty() {
            return html! { p .empty { (t.text("console-none")) } };
        }
        let select = self.select.filter(|_| !self.rows.is_empty());
        let has_acts = self.rows.iter().any(|row| !(self.acts)(row).is_empty());
        html! {
            div .scroll tabindex="0" role="region" aria-label=(self.caption) {
                table {
                    caption .hidden { (self.caption) }
                    thead {
                        tr {
                            @if select.is_some() { td .pick { input type="checkbox" data-all="" hidden aria-label=(t.with("console-select", &[("name", Arg::Text(self.caption))])); } }
                            @for column in self.columns { th scope="col" { (heading(column)) } }
                            @if has_acts { th scope="col" { span .hidden { (t.text("console-acts")) } } }
                        }
                    }
                    tbody {
                        @for row in self.rows {
                            tr { @if let Some(select) = select { (pick(t, select(row))) } (self.cells(t, row)) @if has_acts { td .acts { (self.row_acts(row)) } } }
                        }
                    }
                }
                @if self.rows.is_empty() { p .empty { (t.text("console-none")) } }
            }
        }
    }

    fn cells(&self, t: &Face, row: &Value) -> Markup {
        let link = (self.link)(row);
        html! {
            @for (index, column) in self.columns.iter().enumerate() {
                @let cell = values::cell(t, column, &row[*column]);
                @match (index, &link) {
                    (0, Some(href)) => { th scope="row" { a href=(href) { (cell) } } }
                    (0, None) => { th scope="row" { (cell) } }
                    _ => { td data-column=(column) { (cell) } }
                }
            }
        }
    }

    fn row_acts(&self, row: &Value) -> Markup {
        html! {
            @for (text, href) in (self.acts)(row) { a .button .small href=(href) { (text) } }
        }
    }
}

/// The box that selects a row.
fn pick(t: &Face, row: Option<(String, String)>) -> Markup {
    html! {
        td .pick {
            @if let Some((key, name)) = row {
                input type="checkbox" name={ "s:" (key) } value=(name) aria-label=(t.with("console-select", &[("name", Arg::Text(&name))]));
            }
        }
    }
}

/// Members that rows of a list have and a table of them shows: few, and no objects.
pub(crate) fn columns_of(rows: &[Value]) -> Vec<&str> {
    const MOST: usize = 6;
    let Some(first) = rows.first().and_then(Value::as_object) else {
        return Vec::new();
    };
    let plain = first.iter().filter(|(_, value)| !value.is_object());
    let mut names: Vec<&str> = plain.map(|(name, _)| name.as_str()).collect();
    // What names it, and what a person reads, before what lasts.
    let weight = |name: &str| match name {
        "name" | "kind" | "client_id" | "label" | "method" => 0,
        name if name.ends_with("id") => 2,
        name if values::is_time(name) => 3,
        _ => 1,
    };
    names.sort_by_key(|name| weight(name));
    names.truncate(MOST);
    names
}
