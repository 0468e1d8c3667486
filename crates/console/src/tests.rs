//! What appears in the console by itself.
use maud::html;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use signet_admin::Noun;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::Page;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::{Area, Right};
use signet_pages::Face;
use signet_realm::state::Realm;
use std::sync::Arc;

use crate::engine::catalog::{Catalog, Reads};
use crate::engine::fields::{Fields, Input, Why};
use crate::view::{fields, shell, table::Table};

const LIST: &str = "/admin/v1/robots";

/// A robot.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Robot {
    /// What it is called.
    name: String,
    /// What its arms may lift, `kg`.
    #[serde(default)]
    lifts: Option<u64>,
    /// It may move.
    #[serde(default)]
    awake: bool,
    /// Where it may go.
    #[serde(default)]
    rooms: Vec<String>,
    #[serde(default)]
    mood: Mood,
    /// Parts by their names.
    #[serde(default)]
    parts: std::collections::BTreeMap<String, u64>,
    #[serde(default)]
    maker: Maker,
    /// Opens its hatch.
    #[serde(default)]
    hatch_password: Option<String>,
    /// Read-only.
    #[serde(default)]
    revision: u64,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mood {
    #[default]
    Calm,
    Curious,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Maker {
    /// Where it was made.
    town: String,
}

async fn nobody(_: Arc<Realm>, _: Page) -> Result<Json<Vec<Robot>>, Problem> {
    Ok(Json(Vec::new()))
}

async fn make(_: Arc<Realm>, Json(robot): Json<Robot>) -> Result<Json<Robot>, Problem> {
    Ok(Json(robot))
}

const ROBOTS: Noun = Noun {
    name: "robot",
    list: LIST,
    id: "name",
    columns: &["name", "lifts", "awake"],
    sorted_by: None,
    written: &[],
};

static ROWS: [&dyn Row; 2] = [
    &Operation::new(
        "listRobots",
        Area::Settings,
        Right::Read,
        Method::Get,
        LIST,
        "List robots",
        run!(nobody),
    ),
    &Operation::new(
        "makeRobot",
        Area::Settings,
        Right::Write,
        Method::Post,
        LIST,
        "Make a robot",
        run!(make),
    ),
];

#[test]
fn a_kind_and_a_member_that_are_added_to_the_tables_are_in_the_console() {
    let catalog = Catalog::house().with(ROBOTS, &ROWS);
    let t = Face::default();
    // In the navigation, which has no text for it yet.
    let menu = shell::navigation(&t, &catalog, "/robots").into_string();
    assert!(
        menu.contains("href=\"/console/robots\" aria-current=\"page\">Robots<"),
        "{menu}"
    );
    // As a table with its columns.
    let kind = catalog.kind("robots").unwrap();
    assert_eq!(kind.list().map(|row| row.facts().id), Some("listRobots"));
    let rows = [json!({ "name": "R<2", "lifts": 5, "awake": true })];
    let table = Table {
        caption: "robots",
        columns: kind.noun.columns,
        rows: &rows,
        link: &|_| None,
        acts: &|_| Vec::new(),
        select: None,
    };
    let table = table.render(&t).into_string();
    for part in ["<th scope=\"col\">lifts</th>", "R&lt;2", ">5<", "yes"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    // With a form whose fields are the members, and their help the tables' own.
    let made = kind.make().unwrap();
    let reads = Reads::of(made);
    let form = Fields::of(reads.body.as_ref().unwrap(), &reads.schemas, &[]);
    let input = |name: &str| {
        let field = form.fields.iter().find(|field| field.name == name);
        field.map(|field| field.input.clone())
    };
    assert_eq!(input("name"), Some(Input::Text));
    assert_eq!(input("lifts"), Some(Input::Number));
    assert_eq!(input("awake"), Some(Input::Flag));
    assert_eq!(input("rooms"), Some(Input::Lines));
    let moods = ["calm".to_owned(), "curious".to_owned()];
    assert_eq!(input("mood"), Some(Input::Choice(moods.to_vec())));
    assert_eq!(input("parts"), Some(Input::Json));
    assert_eq!(input("maker.town"), Some(Input::Text));
    assert_eq!(input("hatch_password"), Some(Input::Secret));
    assert_eq!(input("revision"), None, "it is read-only");
    let drawn = html! {
        @for field in &form.fields { (fields::field(&t, "b.", field, "", &[])) }
    };
    let drawn = drawn.into_string();
    assert!(
        drawn.contains("What its arms may lift, <code>kg</code>."),
        "{drawn}"
    );
    // What is typed is the document that a program would send.
    let typed = |name: &str| {
        Some(match name {
            "name" => "R2",
            "lifts" => " 5 ",
            "awake" => "true",
            "rooms" => "hall\n\n kitchen ",
            "mood" => "curious",
            "parts" => "{\"arm\": 2}",
            "maker.town" => "Brno",
            "hatch_password" => " open sesame",
            _ => return None,
        })
    };
    let document = form.document(typed).unwrap();
    let sent = json!({
        "name": "R2", "lifts": 5, "awake": true, "rooms": ["hall", "kitchen"], "mood": "curious",
        "parts": { "arm": 2 }, "maker": { "town": "Brno" }, "hatch_password": " open sesame",
    });
    assert_eq!(document, sent);
    // And back: all but the secret.
    for field in &form.fields {
        let shown = field.text(&document);
        match field.name.as_str() {
            "hatch_password" => assert_eq!(shown, ""),
            "rooms" => assert_eq!(shown, "hall\nkitchen"),
            "lifts" => assert_eq!(shown, "5"),
            _ => assert!(!shown.is_empty(), "{}", field.name),
        }
    }
}

#[test]
fn what_cannot_be_read_is_said_at_its_field() {
    let reads = Reads::of(ROWS[1]);
    let form = Fields::of(reads.body.as_ref().unwrap(), &reads.schemas, &[]);
    let typed = |name: &str| match name {
        "name" => Some("R2"),
        "lifts" => Some("much"),
        "parts" => Some("{\n \"arm\": }"),
        _ => None,
    };
    let wrong = form.document(typed).unwrap_err();
    let mut said: Vec<(Option<&str>, &Why)> = wrong
        .iter()
        .map(|one| (one.field.as_deref(), &one.why))
        .collect();
    said.sort_by_key(|(name, _)| *name);
    assert_eq!(
        said,
        [
            (Some("lifts"), &Why::NotANumber),
            (Some("parts"), &Why::NotJson(2, 9)),
        ]
    );
    assert_eq!(
        form.about("", "hatch_password: too short").unwrap().name,
        "hatch_password"
    );
    assert!(form.about("", "the robot sleeps").is_none());
}

/// Operations that have no link of their own on a page of a kind, and why. All others are reached
/// from one; each of these, too, has its form, and stands in the list of all.
const BY_THEMSELVES: &[(&str, &str)] = &[
    ("listSettings", "a page of its own"),
    ("showAudit", "a page of its own"),
    ("listAuditLines", "a page of its own"),
    ("readAuditSegment", "bytes, for whoever verifies them"),
    ("lookAtToken", "a page of its own"),
    ("revokeToken", "on the page of a token"),
    ("verifyAudit", "on the page of the audit trail"),
    ("explainAccess", "a page of its own"),
    ("showAccessMode", "beside explain: in the list of all"),
    ("planDeclarations", "on the page of drift"),
    ("applyDeclarations", "on the page of drift"),
    ("exportDeclarations", "on the page of drift"),
    ("showDeclaration", "on the page of drift"),
    ("revokeEverywhere", "on the page of the cluster"),
    ("listLogouts", "on the overview, where one failed"),
    ("listMails", "a page of its own"),
    ("moveStore", "on the page of the cluster"),
    ("getStoreMove", "on the page of the cluster"),
    (
        "getTrace",
        "of a development server alone, at a terminal: signet dev trace",
    ),
    ("importUsers", "moving in: in the list of all"),
    ("importClient", "moving in: in the list of all"),
    ("exportUsers", "moving out: in the list of all"),
    (
        "exportUsersWithCredentials",
        "moving out: in the list of all",
    ),
    ("endAgentGrant", "on the page of agents, at each grant"),
];

#[test]
fn every_operation_is_reached_from_a_kind_or_stands_in_the_list_with_the_reason() {
    let catalog = Catalog::house();
    let mut reached: Vec<&str> = Vec::new();
    for kind in catalog.kinds() {
        let own = [
            kind.list(),
            kind.show(),
            kind.make(),
            kind.replace(),
            kind.remove(),
        ];
        reached.extend(own.into_iter().flatten().map(|row| row.facts().id));
        reached.extend(kind.beside().iter().map(|row| row.facts().id));
        reached.extend(kind.acts().iter().map(|row| row.facts().id));
        for part in kind.parts() {
            reached.push(part.facts().id);
            reached.extend(kind.acts_of(part.facts()).iter().map(|row| row.facts().id));
        }
    }
    let mut missing = Vec::new();
    for row in catalog.operations() {
        let id = row.facts().id;
        let is_listed = BY_THEMSELVES.iter().any(|(name, _)| *name == id);
        if !reached.contains(&id) && !is_listed {
            missing.push(id);
        }
    }
    assert_eq!(missing, [""; 0]);
    for (name, _) in BY_THEMSELVES {
        assert!(catalog.operation(name).is_some(), "{name} is no operation");
    }
}
