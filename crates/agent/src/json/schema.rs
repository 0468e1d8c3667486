//! The fields of each type: number in CBOR, name in JSON, kind.

use crate::object::Type;

/// What a field holds, in both forms.
#[derive(Debug)]
pub(super) enum Kind {
    /// 32 bytes; `agent:` and base64url.
    Agent,
    /// Bytes; base64url.
    Bytes,
    Text,
    Uint,
    Bool,
    /// `[alg, key, ...]`; `[{"alg", "key"}, ...]`.
    Keys,
    List(&'static Kind),
    /// `[address, prefix]`; `"10.0.0.0/8"`.
    Network,
    /// `[amount, unit]`; `{"amount", "unit"}`.
    Budget,
    /// `[number, seconds]`; `{"key", "since"}`.
    KeySince,
    /// A map of text to text.
    Map,
    /// A message in a byte string; its JSON.
    Signed(Type),
    /// A number; the name at its place.
    Name(&'static [&'static str]),
}

/// One field.
#[derive(Debug)]
pub(super) struct Field {
    pub key: u64,
    pub name: &'static str,
    pub kind: Kind,
}

const fn field(key: u64, name: &'static str, kind: Kind) -> Field {
    Field { key, name, kind }
}

use Kind::{
    Agent, Bool, Budget, Bytes, KeySince, Keys, List, Map, Name, Network, Signed, Text, Uint,
};

const IDENTITY: &[Field] = &[
    field(1, "id", Agent),
    field(2, "key", Uint),
    field(3, "name", Text),
    field(4, "created", Uint),
    field(5, "inception", Keys),
    field(6, "next", Bytes),
    field(7, "rotations", List(&Signed(Type::Rotation))),
    field(8, "methods", List(&Signed(Type::Method))),
    field(9, "attestations", List(&Signed(Type::Attestation))),
];

const GRANT: &[Field] = &[
    field(1, "grantor", Agent),
    field(2, "grantor_key", Uint),
    field(3, "grantee", Agent),
    field(4, "grantee_key", Uint),
    field(5, "grantee_public_key", Keys),
    field(6, "capabilities", List(&Text)),
    field(7, "issued", Uint),
    field(8, "not_before", Uint),
    field(9, "not_after", Uint),
    field(10, "serial", Bytes),
    field(11, "max_depth", Uint),
    field(12, "parent", Bytes),
    field(13, "audience", List(&Text)),
    field(14, "max_uses", Uint),
    field(15, "budget", Budget),
    field(16, "networks", List(&Network)),
    field(17, "custom", Map),
    field(18, "revocation_delegates", List(&Agent)),
    field(19, "revocation_status", Text),
    field(20, "revocation_max_staleness", Uint),
];

const ROTATION: &[Field] = &[
    field(1, "agent", Agent),
    field(2, "key", Uint),
    field(3, "previous", Bytes),
    field(4, "public_key", Keys),
    field(5, "next", Bytes),
    field(6, "reason", Text),
    field(7, "compromised", Bool),
    field(8, "at", Uint),
    field(9, "compromised_keys", List(&KeySince)),
];

const RECEIPT: &[Field] = &[
    field(1, "actor", Agent),
    field(2, "key", Uint),
    field(3, "action", Text),
    field(4, "at_ms", Uint),
    field(5, "content", Bytes),
    field(6, "input", Bytes),
    field(7, "grant", Bytes),
    field(
        8,
        "decision",
        Name(&["none", "allowed", "denied", "approved"]),
    ),
    field(9, "policy", Text),
    field(10, "previous", Bytes),
    field(11, "index", Uint),
    field(12, "witnesses", List(&Agent)),
    field(13, "sealed_fields", List(&Bytes)),
    field(14, "outcome", Name(&["unknown", "success", "failure"])),
];

const PROOF: &[Field] = &[
    field(1, "holder", Agent),
    field(2, "key", Uint),
    field(3, "grant", Bytes),
    field(4, "audience", Text),
    field(5, "at", Uint),
    field(6, "nonce", Bytes),
    field(7, "method", Signed(Type::Method)),
];

const REVOCATION: &[Field] = &[
    field(1, "revoker", Agent),
    field(2, "key", Uint),
    field(
        3,
        "target_type",
        Name(&["", "grant", "subtree", "agent", "everything"]),
    ),
    field(4, "target", Bytes),
    field(5, "reason", Text),
    field(6, "at", Uint),
];

const METHOD: &[Field] = &[
    field(1, "agent", Agent),
    field(2, "key", Uint),
    field(3, "purpose", Name(&["", "session", "device", "capability"])),
    field(4, "name", Text),
    field(5, "public_key", Keys),
    field(6, "not_before", Uint),
    field(7, "not_after", Uint),
];

const ATTESTATION: &[Field] = &[
    field(1, "attester", Agent),
    field(2, "key", Uint),
    field(3, "subject", Agent),
    field(4, "claims", Map),
    field(5, "issued", Uint),
    field(6, "not_after", Uint),
];

const WITNESS: &[Field] = &[
    field(1, "witness", Agent),
    field(2, "key", Uint),
    field(3, "subject", Bytes),
    field(4, "at_ms", Uint),
];

const BIRTH: &[Field] = &[
    field(1, "parent", Agent),
    field(2, "parent_key", Uint),
    field(3, "child", Agent),
    field(4, "child_key", Uint),
    field(5, "parent_birth", Bytes),
    field(6, "authority", List(&Text)),
    field(7, "purpose", Text),
    field(8, "at", Uint),
];

const HEARTBEAT: &[Field] = &[
    field(1, "agent", Agent),
    field(2, "key", Uint),
    field(3, "index", Uint),
    field(4, "previous", Bytes),
    field(5, "experience", Bytes),
    field(6, "at", Uint),
    field(7, "interval", Uint),
];

const TRACK_RECORD: &[Field] = &[
    field(1, "issuer", Agent),
    field(2, "key", Uint),
    field(3, "subject", Agent),
    field(4, "action", Text),
    field(5, "from_ms", Uint),
    field(6, "until_ms", Uint),
    field(7, "attempts", Uint),
    field(8, "successes", Uint),
    field(9, "failures", Uint),
    field(10, "root", Bytes),
];

const DECLARATION: &[Field] = &[
    field(1, "agent", Agent),
    field(2, "key", Uint),
    field(3, "capabilities", List(&Text)),
    field(4, "reason", Text),
    field(5, "from", Uint),
    field(6, "until", Uint),
];

/// The fields after the type, in the order of their numbers.
pub(super) const fn fields(kind: Type) -> &'static [Field] {
    match kind {
        Type::Identity => IDENTITY,
        Type::Grant => GRANT,
        Type::Rotation => ROTATION,
        Type::Receipt => RECEIPT,
        Type::Proof => PROOF,
        Type::Revocation => REVOCATION,
        Type::Method => METHOD,
        Type::Attestation => ATTESTATION,
        Type::Witness => WITNESS,
        Type::Birth => BIRTH,
        Type::Heartbeat => HEARTBEAT,
        Type::TrackRecord => TRACK_RECORD,
        Type::Declaration => DECLARATION,
    }
}
