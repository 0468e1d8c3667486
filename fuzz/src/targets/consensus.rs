//! What another node or the disk hands to the replicated store: messages, entries of the log and
//! notes of the state. Rule: what was read is read the same again from what it is written as.

/// One input.
pub fn run(data: &[u8]) {
    signet_consensus::fuzzing::read_all(data);
}
