//! Identity providers.
use crate::operations::model::List;
use schemars::JsonSchema;
use signet_oauth::people::provider::Provider;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Page, ProviderName, Revision};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Json, Revised, Written};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use signet_registry::provider_document::ProviderDocument;
use signet_registry::providers::{ProviderForm, open_secret, seal_secret};
use std::sync::Arc;

const LIST: &str = "/admin/v1/providers";
const ONE: &str = "/admin/v1/providers/{provider}";

/// Identity providers.
pub const PROVIDERS: Noun = Noun {
    name: "provider",
    list: LIST,
    id: "name",
    columns: &["name", "issuer", "client_id", "enabled", "redirect_uri"],
    sorted_by: None,
    written: &[ProviderForm::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listProviders", Area::Providers, Read, Method::Get, LIST, "List identity providers", run!(list)),
    &Operation::new("showProvider", Area::Providers, Read, Method::Get, ONE, "Show an identity provider", run!(show)),
    &Operation::new("writeProvider", Area::Providers, Write, Method::Put, ONE, "Add an identity provider; with If-Match, replace one", run!(write)),
    &Operation::new("removeProvider", Area::Providers, Write, Method::Delete, ONE, "Remove an identity provider", run!(remove)),
];

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<ProviderDocument>>, Problem> {
    let snapshot = realm.snapshot();
    let issuer = &snapshot.settings.issuer;
    let after = page.after.as_deref();
    // In the order of their names already.
    let found = snapshot.registry.providers.iter();
    let found = found.filter(|provider| after.is_none_or(|after| *provider.name > *after));
    let found = found.take(page.limit + 1);
    let items = found.map(|provider| ProviderDocument::new(provider, issuer));
    let named = |document: &ProviderDocument| document.name.clone();
    Ok(Json(List::cut(items.collect(), page.limit, named)))
}

fn shown(realm: &Realm, provider: &Provider) -> Revised<ProviderDocument> {
    Revised {
        value: ProviderDocument::new(provider, &realm.snapshot().settings.issuer),
        revision: provider.revision,
    }
}

async fn show(
    realm: Arc<Realm>,
    ProviderName(name): ProviderName,
) -> Result<Revised<ProviderDocument>, Problem> {
    realm.learn(RecordKind::Provider, &name).await?;
    let snapshot = realm.snapshot();
    let provider = snapshot.registry.providers.get(&name);
    let provider = provider.ok_or_else(Problem::not_found)?;
    Ok(shown(&realm, provider))
}

async fn write(
    realm: Arc<Realm>,
    (ProviderName(name), revision, Json(wanted)): (
        ProviderName,
        Option<Revision>,
        Json<ProviderForm>,
    ),
) -> Result<Written<Revised<ProviderDocument>>, Problem> {
    realm.learn(RecordKind::Provider, &name).await?;
    let read = revision.map(|Revision(read)| read);
    let written = put(&realm, name, wanted, read).await?;
    let shown = shown(&realm, &written);
    Ok(match read {
        None => Written::New(shown),
        Some(_) => Written::Replaced(shown),
    })
}

/// Writes a provider.
pub(crate) async fn put(
    realm: &Realm,
    name: String,
    wanted: ProviderForm,
    read: Option<u64>,
) -> Result<Arc<Provider>, Problem> {
    if wanted.name.as_deref().is_some_and(|said| said != name) {
        return Err(Problem::invalid("the name cannot be changed"));
    }
    let known = realm.snapshot().registry.providers.get(&name).cloned();
    let (mut provider, secret) = wanted.provider(name.clone()).map_err(Problem::invalid)?;
    let keyring = realm.keyring();
    let kept = |known: &Provider| match &secret {
        // What is said once is not said again: it stays while it is of the same client.
        None => known.issuer == provider.issuer && known.client_id == provider.client_id,
        // The same one stays sealed as it is.
        Some(secret) => open_secret(&keyring, known).is_some_and(|known| known == *secret),
    };
    provider.sealed_secret = match known.filter(|known| kept(known)) {
        Some(known) => known.sealed_secret.clone(),
        None => secret.and_then(|secret| seal_secret(&keyring, &name, &secret)),
    };
    drop(keyring);
    Ok(realm.write_provider(provider, read).await?)
}

async fn remove(realm: Arc<Realm>, ProviderName(name): ProviderName) -> Result<(), Problem> {
    Ok(realm.remove_record::<Provider>(&name, None).await?)
}
