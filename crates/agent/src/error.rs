//! Why something was refused, by name.
//!
//! One flat list for the whole crate: a refusal is the answer that an auditor reads, so each has a
//! stable name ([`Refusal::name`]) beside its sentence. None of them carries secrets or the peer's
//! text.

macro_rules! refusals {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $text:literal;)*) => {
        /// The reason for which an object, a chain or a log was refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
        #[non_exhaustive]
        pub enum Refusal { $($(#[$doc])* #[error($text)] $variant,)* }

        impl Refusal {
            /// Every reason there is.
            pub const ALL: &'static [Refusal] = &[$(Refusal::$variant,)*];

            /// The stable name: lower case, for JSON and logs.
            pub const fn name(self) -> &'static str {
                match self { $(Refusal::$variant => $name,)* }
            }
        }
    };
}

refusals! {
    /// Not the bytes or the JSON of any such object.
    Malformed = "malformed", "the object is malformed";
    /// Another encoding of something that has exactly one (RFC 8949 section 4.2).
    NotCanonical = "not_canonical", "the encoding is not the canonical one";
    /// More bytes, entries or nesting than is read.
    TooLarge = "too_large", "the object is too large";
    /// An object of another kind.
    WrongType = "wrong_type", "the object is of another type";
    /// A value that the field cannot have.
    InvalidValue = "invalid_value", "a field has a value that it cannot have";
    /// JSON that names one member twice, or one that does not exist.
    UnknownMember = "unknown_member", "the JSON has a member that is unknown or named twice";
    /// A derived value in the JSON (an id, a public key) that is not what it is derived from.
    DerivedMismatch = "derived_mismatch", "an id or key in the JSON is not what the signed content gives";
    /// The number or the algorithms of the signatures are not those of the signer's key.
    WrongAlgorithm = "wrong_algorithm", "the signatures are not of the algorithms of the signer's key";
    /// A key that is no key, or a weak one.
    InvalidKey = "invalid_key", "a public key is not usable";
    /// A signature that the key did not make for this content.
    SignatureInvalid = "signature_invalid", "a signature does not hold";
    /// Signed by somebody else than it names.
    WrongSigner = "wrong_signer", "the object is not by the one it should be by";
    /// The id does not come from the inception key and the hash of the next key.
    IdMismatch = "id_mismatch", "the id does not follow from the inception key and its next key";
    /// A step of the rotation history is missing, out of order, or does not open the key that was
    /// committed to.
    HistoryBroken = "history_broken", "the rotation history is broken";
    /// The key that was committed to is not the one presented.
    NextKeyMismatch = "next_key_mismatch", "the key is not the one that was committed to as the next";
    /// The named key is not in the signer's history.
    UnknownKey = "unknown_key", "the signer's document has no such key";
    /// The key was given up as compromised, and nothing shows that this was signed before.
    KeyCompromised = "key_compromised", "the signing key was compromised and no log anchored this before";
    /// The key was rotated out before this was signed, or this is about now and takes the current
    /// key.
    RetiredKey = "retired_key", "the signing key was retired: it speaks only for what was issued while it was current";
    /// A key that is committed to, or begins, although the identity has used it before.
    KeyReused = "key_reused", "the next key is one that the identity has used before";
    /// The signer's document is needed and was not handed in.
    DocumentMissing = "document_missing", "the signer's identity document is missing";
    /// The document and a grant disagree on an agent's key.
    KeyMismatch = "key_mismatch", "the key in the grant is not that of the identity";
    /// The moment is before the beginning.
    NotYetValid = "not_yet_valid", "it is not valid yet";
    /// The moment is after the end.
    Expired = "expired", "it has expired";
    /// No grant where at least one is needed.
    EmptyChain = "empty_chain", "there is no grant to check";
    /// The first grant is not from the root that the verifier named.
    WrongRoot = "wrong_root", "the chain does not begin at the named root";
    /// A grant is not the child of the one before it.
    ParentMismatch = "parent_mismatch", "a grant does not name the one before it as its parent";
    /// A grantor is not the grantee of the parent.
    GrantorMismatch = "grantor_mismatch", "a grant is not from the holder of its parent";
    /// The parent allows no further delegation, or less than the child takes.
    DepthExceeded = "depth_exceeded", "the parent does not allow this delegation";
    /// A capability beyond the parent's.
    CapabilityWidened = "capability_widened", "a capability goes beyond the parent's";
    /// A beginning before, or an end after, the parent's.
    TimeWidened = "time_widened", "the time goes beyond the parent's";
    /// An audience beyond the parent's.
    AudienceWidened = "audience_widened", "the audience goes beyond the parent's";
    /// More uses than the parent has.
    UsesWidened = "uses_widened", "the number of uses goes beyond the parent's";
    /// A greater budget, or another unit, than the parent's.
    BudgetWidened = "budget_widened", "the budget goes beyond the parent's";
    /// A network outside the parent's.
    NetworkWidened = "network_widened", "the network goes beyond the parent's";
    /// A custom constraint of the parent left out or changed.
    CustomWidened = "custom_widened", "a custom constraint of the parent was dropped or changed";
    /// A weaker demand on revocation than the parent's.
    RevocationWidened = "revocation_widened", "the rules of revocation are weaker than the parent's";
    /// No capability of the grant covers what is asked.
    CapabilityNotGranted = "capability_not_granted", "the capability is not granted";
    /// The audience is not one that the grant names.
    AudienceRefused = "audience_refused", "the audience is not one that the grant names";
    /// All uses are spent.
    UsesExhausted = "uses_exhausted", "all uses are spent";
    /// The budget is spent, or counted in another unit.
    BudgetExhausted = "budget_exhausted", "the budget does not allow this";
    /// The address is outside the grant's networks.
    NetworkRefused = "network_refused", "the network is not one that the grant names";
    /// A custom constraint is not fulfilled.
    CustomRefused = "custom_refused", "a custom constraint is not fulfilled";
    /// A custom constraint that the verifier does not know.
    CustomUnknown = "custom_unknown", "a custom constraint is not known to the verifier";
    /// A constraint whose context the verifier did not give.
    ContextMissing = "context_missing", "a constraint cannot be evaluated: its context is missing";
    /// A proof of possession is needed and was not given.
    ProofMissing = "proof_missing", "the holder's proof of possession is missing";
    /// The proof is for another grant.
    ProofGrantMismatch = "proof_grant_mismatch", "the proof is for another grant";
    /// The proof is for another audience.
    ProofAudienceMismatch = "proof_audience_mismatch", "the proof is for another audience";
    /// The proof is from another moment.
    ProofTimeMismatch = "proof_time_mismatch", "the proof is too old or from the future";
    /// The proof does not answer the verifier's nonce.
    ProofNonceMismatch = "proof_nonce_mismatch", "the proof is for another nonce";
    /// A certified key is for another purpose, or for another capability.
    MethodRefused = "method_refused", "the certified key is not for this use";
    /// A grant of the chain was revoked.
    Revoked = "revoked", "a grant of the chain was revoked";
    /// An agent of the chain was ended.
    AgentRevoked = "agent_revoked", "an agent of the chain was revoked";
    /// A revocation that cannot be read or does not verify: it may be any.
    RevocationUnreadable = "revocation_unreadable", "a revocation cannot be read, so it may concern this chain";
    /// The revocations are older than the verifier or the grant allows.
    RevocationsStale = "revocations_stale", "what is known of revocations is too old";
    /// An agent of the chain has declared that it will not use this capability.
    DeclaredRefusal = "declared_refusal", "an agent of the chain declared that it will not use this capability";
    /// The content is not what the receipt's hash names.
    ContentMismatch = "content_mismatch", "the content is not what was signed";
    /// A disclosed field is not one of the receipt's.
    DisclosureMismatch = "disclosure_mismatch", "a disclosed field is not one that was signed";
    /// A receipt does not follow the one before it.
    ChainBroken = "chain_broken", "a receipt does not follow the one before it";
    /// The receipts do not begin at the first.
    ChainStartMissing = "chain_start_missing", "the first receipts of the chain are missing";
    /// The receipts do not reach the known head.
    ChainEndMissing = "chain_end_missing", "the last receipts of the chain are missing";
    /// A named witness has not signed.
    WitnessMissing = "witness_missing", "a named witness has not signed";
    /// The entries do not give the signed root.
    RootMismatch = "root_mismatch", "the log does not have the root that was signed";
    /// Fewer entries than were signed.
    LogTruncated = "log_truncated", "the log is shorter than its checkpoint";
    /// Entries that no checkpoint covers.
    LogUnsigned = "log_unsigned", "the log has entries that no checkpoint covers, or no checkpoint at all";
    /// An inclusion or consistency proof does not give the root.
    ProofOfLogInvalid = "log_proof_invalid", "the log's proof does not hold";
    /// A line of descent does not fit together.
    LineageBroken = "lineage_broken", "the line of descent is broken";
    /// An agent would be its own ancestor.
    LineageCycle = "lineage_cycle", "an agent cannot be its own ancestor";
    /// A child has an authority beyond its ancestors'.
    AuthorityWidened = "authority_widened", "the child's authority goes beyond its ancestors'";
    /// A track record is not what the receipts give.
    RecordMismatch = "record_mismatch", "the track record is not what the receipts give";
    /// The passphrase is wrong, or the file was changed.
    FileNotAuthentic = "file_not_authentic", "the passphrase is wrong or the file was changed";
    /// A passphrase that protects nothing.
    PassphraseRefused = "passphrase_refused", "a passphrase is needed, of 1 to 1024 bytes";
    /// The library failed where nothing should go wrong.
    Library = "library", "the cryptography library failed";
}

impl From<signet_cbor::Error> for Refusal {
    fn from(error: signet_cbor::Error) -> Refusal {
        use signet_cbor::Error;
        match error {
            Error::Malformed => Refusal::Malformed,
            Error::NotCanonical => Refusal::NotCanonical,
            Error::TooLarge => Refusal::TooLarge,
            Error::UnknownMember => Refusal::UnknownMember,
            Error::WrongType => Refusal::WrongType,
            Error::WrongAlgorithm => Refusal::WrongAlgorithm,
            Error::SignatureInvalid => Refusal::SignatureInvalid,
            Error::Library => Refusal::Library,
        }
    }
}

/// What this crate answers.
pub type Result<T> = std::result::Result<T, Refusal>;

/// Refuses for this reason unless the condition holds.
pub(crate) fn ensure(condition: bool, reason: Refusal) -> Result<()> {
    if condition { Ok(()) } else { Err(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_name_of_its_own() {
        let mut names: Vec<_> = Refusal::ALL.iter().map(|r| r.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Refusal::ALL.len());
    }
}
