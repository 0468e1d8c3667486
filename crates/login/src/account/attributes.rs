//! What the realm's schema has of the person: what they may see, and what they may change.

use signet_directory::{StoredAttribute, User, UserDraft, Value};
use signet_oauth::params::Params;
use signet_oauth::people::{Attribute, AttributeType, Who};

use super::{about, after_saving};
use crate::failure::Failure;
use signet_pages::{AttributeField, AttributeView};
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;

/// The attributes that the person may see.
pub(super) fn view(browser: &BrowserRequest, user: &User) -> Vec<AttributeView> {
    let schema = &browser.context.snapshot.registry.people.attributes;
    let may = browser.context.realm.people.users.may(user).attributes;
    schema
        .values()
        .filter(|attribute| attribute.read == Who::Person)
        .map(|attribute| {
            let held = user.attributes.get(&attribute.name);
            AttributeView {
                name: attribute.name.clone(),
                label: attribute
                    .label
                    .clone()
                    .unwrap_or_else(|| attribute.name.clone()),
                field: field(attribute, held.map(|held| &held.value)),
                editable: may && attribute.write == Who::Person,
                waits: attribute.verified && held.is_some_and(|held| !held.verified),
            }
        })
        .collect()
}

/// A value of another type than the schema has now is not shown: saving the page takes it away.
fn field(attribute: &Attribute, value: Option<&Value>) -> AttributeField {
    match (attribute.kind, value) {
        (AttributeType::String, Some(Value::Text(text))) => {
            AttributeField::Line(text.clone(), attribute.max_bytes)
        }
        (AttributeType::String, _) => AttributeField::Line(String::new(), attribute.max_bytes),
        (AttributeType::Number, Some(Value::Number(n))) => AttributeField::Number(Some(*n)),
        (AttributeType::Number, _) => AttributeField::Number(None),
        (AttributeType::Boolean, Some(Value::Boolean(choice))) => {
            AttributeField::Choice(Some(*choice))
        }
        (AttributeType::Boolean, _) => AttributeField::Choice(None),
        (AttributeType::List, Some(Value::List(lines))) => AttributeField::Lines(lines.clone()),
        (AttributeType::List, _) => AttributeField::Lines(Vec::new()),
    }
}

/// What was typed; `Ok(None)`: nothing.
fn typed(attribute: &Attribute, text: &str) -> Result<Option<Value>, Failure> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = match attribute.kind {
        AttributeType::String => Value::Text(text.to_owned()),
        AttributeType::Number => Value::Number(
            text.parse()
                .map_err(|_| Failure::Invalid("account-not-a-number"))?,
        ),
        AttributeType::Boolean => Value::Boolean(text == "true"),
        AttributeType::List => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Value::List(lines.map(str::to_owned).collect())
        }
    };
    match attribute.accepts(&value.to_attribute()) {
        Ok(()) => Ok(Some(value)),
        Err(_) => Err(Failure::Invalid("account-bad-value")),
    }
}

/// The form: what the schema lets the person write, and nothing else of it.
pub(super) async fn save(browser: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    let saved = try_save(&browser, present, form);
    let event = about(&browser, present, "attributes");
    let audit = browser.context.realm.audit();
    let saved = audit.act(event, saved, Failure::code).await;
    after_saving(browser, present, saved).await
}

async fn try_save(
    browser: &BrowserRequest,
    present: &LoggedIn,
    form: &Params,
) -> Result<User, Failure> {
    let schema = &browser.context.snapshot.registry.people.attributes;
    let mut wanted: Vec<(&str, Option<Value>)> = Vec::new();
    let asked: Vec<&str> = form.get("attributes").unwrap_or("").split(' ').collect();
    for attribute in schema.values().filter(|one| one.write == Who::Person) {
        // A form that was made before the schema had it says nothing of it. An empty field is as
        // if omitted, and takes the value away.
        let text = form.get(&format!("attribute.{}", attribute.name));
        if text.is_some() || asked.contains(&&*attribute.name) {
            wanted.push((&attribute.name, typed(attribute, text.unwrap_or(""))?));
        }
    }
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let change = |draft: &mut UserDraft| {
        let attributes = &mut draft.user.attributes;
        for (name, value) in &wanted {
            match value {
                None => drop(attributes.remove(*name)),
                // What stays as it was stays vouched for.
                Some(value)
                    if attributes
                        .get(*name)
                        .is_some_and(|held| held.value == *value) => {}
                Some(value) => {
                    let stored = StoredAttribute {
                        value: value.clone(),
                        verified: false,
                    };
                    attributes.insert((*name).to_owned(), stored);
                }
            }
        }
    };
    Ok(users.change(&present.user.id, now, change).await?)
}
