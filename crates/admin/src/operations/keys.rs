//! Signing keys.
use crate::operations::model::{KeyDocument, List, Rotation, SealingRotation};
use crate::operations::sealing::rotate_sealing_key;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::state::Realm;
use signet_registry::keys::{KeyKind, KeysError};
use std::sync::Arc;

const LIST: &str = "/admin/v1/keys";
const SEALING: &str = "/admin/v1/keys/sealing/rotate";
const ROTATE: &str = "/admin/v1/keys/rotate";

/// Signing keys.
pub const KEYS: Noun = Noun {
    name: "key",
    list: LIST,
    id: "kid",
    columns: &[
        "kid",
        "alg",
        "phase",
        "created_at",
        "active_from",
        "signs_from",
        "ends_at",
    ],
    sorted_by: None,
    written: &[],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listKeys", Area::Keys, Read, Method::Get, LIST, "List the signing keys", run!(list)),
    &Operation::new("rotateKeys", Area::Keys, Write, Method::Post, ROTATE, "Let the standby keys take over", run!(rotate)).ends(),
    &Operation::new("rotateSealingKey", Area::Keys, Write, Method::Post, SEALING, "Make a new sealing key and re-encrypt data at rest", run!(rotate_sealing)).ends(),
];

async fn list(realm: Arc<Realm>, (): ()) -> Result<Json<List<KeyDocument>>, Problem> {
    realm.learn_keys().await.map_err(|error| {
        tracing::error!(%error, "failed to read the signing keys");
        Problem::unavailable()
    })?;
    let keys = realm.signing_keys.list().await;
    let items = keys.into_iter().map(KeyDocument::from).collect();
    Ok(Json(List { items, next: None }))
}

async fn rotate(
    realm: Arc<Realm>,
    Json(wanted): Json<Rotation>,
) -> Result<Json<List<KeyDocument>>, Problem> {
    let kind = match wanted.alg.as_deref() {
        None => None,
        Some(name) => Some(
            KeyKind::from_name(name)
                .ok_or_else(|| Problem::invalid("alg is no signature algorithm"))?,
        ),
    };
    if wanted.standby_too && !wanted.compromised {
        return Err(Problem::invalid("standby_too goes with compromised"));
    }
    let keys = &realm.signing_keys;
    let at = realm.moment();
    let rotated = loop {
        let keyring = Arc::clone(&realm.keyring());
        let publish = |deltas| realm.show_keys(deltas);
        let done = match wanted.compromised {
            true => {
                keys.rotate_compromised(kind, wanted.standby_too, &keyring, at, publish)
                    .await
            }
            false => keys.rotate(kind, &keyring, at, publish).await,
        };
        if !realm.was_overtaken(&keyring, &done) {
            break done;
        }
    };
    rotated.map_err(|error| match error {
        KeysError::NoSuchAlgorithm => Problem::invalid("there is no signing key for this alg"),
        other => {
            tracing::error!(error = %other, "failed to rotate the signing keys");
            Problem::unavailable()
        }
    })?;
    list(realm, ()).await
}

async fn rotate_sealing(realm: Arc<Realm>, (): ()) -> Result<Json<SealingRotation>, Problem> {
    let file = realm
        .sealing_file
        .as_ref()
        .ok_or_else(Problem::unavailable)?;
    let done = rotate_sealing_key(&realm, file).await.map_err(|error| {
        tracing::error!(%error, "failed to complete the sealing key rotation");
        Problem::unavailable()
    })?;
    Ok(Json(SealingRotation {
        signing_keys: done.signing_keys,
        clients: done.clients,
        sealing_keys: done.sealing_keys,
    }))
}
