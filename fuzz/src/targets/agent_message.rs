//! Messages of agents: identities, grants, receipts and the rest. Rule: what is accepted is the one
//! encoding of what it says, in CBOR and in JSON, and verification does not panic.

use signet_agent::anchor::Anchors;
use signet_agent::attestation::Attestation;
use signet_agent::cbor::Value;
use signet_agent::competence::TrackRecord;
use signet_agent::continuity::Heartbeat;
use signet_agent::declaration::Declaration;
use signet_agent::grant::Grant;
use signet_agent::identity::{Document, Rotation, VerifiedDocument};
use signet_agent::json::{from_json, to_json};
use signet_agent::lineage::Birth;
use signet_agent::method::Method;
use signet_agent::object::{Object, Signed};
use signet_agent::proof::Proof;
use signet_agent::receipt::Receipt;
use signet_agent::revocation::Revocation;
use signet_agent::witness::Witness;

/// One input.
pub fn run(data: &[u8]) {
    if let Ok(value) = Value::decode(data) {
        assert_eq!(
            value.encode().as_deref(),
            Ok(data),
            "one value, one encoding"
        );
    }
    read::<Grant>(data);
    read::<Rotation>(data);
    read::<Receipt>(data);
    read::<Proof>(data);
    read::<Revocation>(data);
    read::<Method>(data);
    read::<Attestation>(data);
    read::<Witness>(data);
    read::<Birth>(data);
    read::<Heartbeat>(data);
    read::<TrackRecord>(data);
    read::<Declaration>(data);
    read::<Document>(data);
    if let Ok(document) = VerifiedDocument::parse(data.to_vec()) {
        assert!(
            document
                .signed()
                .verify_by(&document, &Anchors::none())
                .is_ok()
        );
    }
}

fn read<T: Object>(data: &[u8]) {
    let Ok(signed) = Signed::<T>::parse(data.to_vec()) else {
        return;
    };
    assert_eq!(
        signed.body().payload(),
        signed.payload(),
        "one object, one payload"
    );
    let json = to_json(data).expect("what was read can be written");
    let (kind, message) = from_json(json.into()).expect("what was written can be read");
    assert_eq!(
        (kind, message.as_slice()),
        (T::TYPE, data),
        "JSON says the same"
    );
}
