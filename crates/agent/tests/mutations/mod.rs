//! Every object against every small change: each single field, each single byte, each order, each
//! part of another object. What is refused is refused by a reason that says what is wrong.

mod bytes;
mod cddl;
mod fields;
mod files;
mod history;
mod json;
mod logs;
mod objects;

use signet_agent::Refusal;
use signet_agent::object::Type;

/// The reasons that a changed object can be refused for: of any type, and of a document besides.
fn named(kind: Type, reason: Refusal) -> bool {
    use Refusal::*;
    let any = [
        Malformed,
        NotCanonical,
        TooLarge,
        WrongType,
        InvalidValue,
        UnknownMember,
        DerivedMismatch,
        WrongAlgorithm,
        InvalidKey,
        SignatureInvalid,
        WrongSigner,
        UnknownKey,
    ];
    let history = [IdMismatch, HistoryBroken, NextKeyMismatch];
    any.contains(&reason) || kind == Type::Identity && history.contains(&reason)
}
