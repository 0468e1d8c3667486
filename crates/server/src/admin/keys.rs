//! Signing keys.
use super::{
    call::{Call, Reply},
    model::{KeyDocument, List, Rotation, SealingRotation},
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
};
use crate::{
    keys::{KeyKind, KeysError, SigningKeys},
    rewrap::rotate_sealing_key,
};
use std::sync::Arc;

const LIST: &str = "/admin/v1/keys";
const SEALING: &str = "/admin/v1/keys/sealing/rotate";
const ROTATE: &str = "/admin/v1/keys/rotate";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listKeys", Method::Get, LIST, "List the signing keys", handler!(list))
        .answers::<List<KeyDocument>>(200),
    Operation::new("rotateKeys", Method::Post, ROTATE, "Let the standby keys take over", handler!(rotate))
        .takes::<Rotation>().answers::<List<KeyDocument>>(200),
    Operation::new("rotateSealingKey", Method::Post, SEALING, "Make a new sealing key and seal anew what rests", handler!(rotate_sealing))
        .answers::<SealingRotation>(200),
];

async fn reply(keys: &SigningKeys) -> Outcome {
    let items = keys.list().await.into_iter().map(KeyDocument::from);
    Reply::ok(&List {
        items: items.collect(),
        next: None,
    })
}

async fn list(call: Call) -> Outcome {
    reply(&call.realm().signing_keys).await
}

async fn rotate(mut call: Call) -> Outcome {
    let wanted: Rotation = call.read().await?;
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
    let realm = call.realm();
    let keys = &realm.signing_keys;
    let keyring = Arc::clone(&realm.keyring());
    let publish = |deltas| realm.show_keys(deltas);
    let at = realm.moment();
    let rotated = if wanted.compromised {
        keys.rotate_compromised(kind, wanted.standby_too, &keyring, at, publish)
            .await
    } else {
        keys.rotate(kind, &keyring, at, publish).await
    };
    rotated.map_err(|error| match error {
        KeysError::NoSuchAlgorithm => Problem::invalid("there is no signing key for this alg"),
        other => {
            tracing::error!(error = %other, "the signing keys could not be rotated");
            Problem::unavailable()
        }
    })?;
    reply(keys).await
}

async fn rotate_sealing(call: Call) -> Outcome {
    let realm = call.realm();
    let keys = &realm.signing_keys;
    let file = realm
        .sealing_file
        .as_ref()
        .ok_or_else(Problem::unavailable)?;
    let done = rotate_sealing_key(realm, file, keys)
        .await
        .map_err(|error| {
            tracing::error!(%error, "the sealing key could not be rotated to the end");
            Problem::unavailable()
        })?;
    Reply::ok(&SealingRotation {
        signing_keys: done.signing_keys,
        clients: done.clients,
        sealing_keys: done.sealing_keys,
    })
}
