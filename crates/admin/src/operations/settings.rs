//! The settings as they count: what each is, its value, where that comes from, and who changes it.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use signet_config::explain::explain;
use signet_config::settings::Owner;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Read;
use signet_realm::realms::{Realms, SettingNow, Source};
use signet_realm::state::Realm;
use std::collections::HashMap;
use std::sync::Arc;

const LIST: &str = "/admin/v1/settings";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listSettings", Area::Settings, Read, Method::Get, LIST, "List the settings with their values, and where these come from", run!(list)),
];

/// A setting as it counts in this realm.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Setting")]
struct SettingDocument {
    /// Its name: `lifetimes.code`.
    name: String,
    /// As a configuration has it, with references in place of secrets; null: not set, or how the
    /// installation sends mail, which a further realm does not show.
    value: Value,
    /// Where the value comes from: `default`, `configuration`, or the realm's `record`.
    source: &'static str,
    /// What counts where nothing is said; null: nothing.
    default: Value,
    /// What it is for.
    documentation: String,
    /// What may be written.
    #[serde(rename = "type")]
    shape: String,
    /// Whose it is: `process` or `realm`.
    owner: &'static str,
    /// When a change of the configuration counts: `reload` or `restart`.
    takes_effect: &'static str,
    /// Where it is changed: `configuration`, or `record` (`signet realm set`).
    changed_in: &'static str,
}

const fn name(source: Source) -> &'static str {
    match source {
        Source::Default => "default",
        Source::Configuration => "configuration",
        Source::Record => "record",
    }
}

/// How mail is sent: where the installation's configuration says it, a realm's administrators do
/// not see servers, names and places of secrets.
fn of_transport(path: &str) -> bool {
    path.starts_with("mail.smtp.") || path == "mail.directory"
}

/// Those of the process are the installation's: a further realm's administrators see their realm's.
async fn list(realm: Arc<Realm>, (): ()) -> Result<Json<List<SettingDocument>>, Problem> {
    let realms = Realms::of(&realm);
    let slot = realms.as_ref();
    let slot = slot.and_then(|realms| realms.table().slot(realm.id()).cloned());
    let entry = slot.as_ref().map(|slot| &**slot.entry());
    let opener = realms.as_ref().and_then(|realms| realms.opener());
    // A process that was not made of a configuration has none.
    let now = opener.map(|opener| opener.settings(entry));
    let now = now.unwrap_or_default();
    let now: HashMap<String, SettingNow> =
        now.into_iter().map(|one| (one.path.clone(), one)).collect();
    let explained = explain("").unwrap_or_default();
    let is_further = !realm.id().is_default();
    let items = explained.into_iter().filter_map(|one| {
        let setting = now.get(&one.path)?;
        let of_process = one.setting.owner == Owner::Process;
        let by_record = is_further && !of_process && one.path != "issuer";
        let is_inherited = is_further && setting.source == Source::Configuration;
        let is_hidden = is_inherited && of_transport(&one.path);
        (!(is_further && of_process)).then(|| SettingDocument {
            value: match is_hidden {
                true => Value::Null,
                false => setting.value.clone(),
            },
            source: name(setting.source),
            default: one.default,
            documentation: one.documentation,
            shape: one.shape,
            owner: one.setting.owner.name(),
            takes_effect: one.setting.takes_effect.name(),
            changed_in: if by_record { "record" } else { "configuration" },
            name: one.path,
        })
    });
    let items = items.collect();
    Ok(Json(List { items, next: None }))
}
