//! Logs: checkpoints, inclusion and consistency proofs, and what they prove.

use signet_agent::anchor::Anchors;
use signet_agent::identity::{Created, create};
use signet_agent::log::{self, Checkpoint, ConsistencyProof, InclusionProof, Tree};
use signet_agent::object::Type;
use signet_agent::{AgentId, Hash, Refusal, Result, Suite};

use super::named;

const ENTRIES: u8 = 7;

type Change = fn(&mut Checkpoint);

struct Log {
    keeper: Created,
    tree: Tree,
    old: Checkpoint,
    new: Checkpoint,
}

fn entry(n: u8) -> [u8; 2] {
    [b'e', n]
}

fn log(suite: Suite) -> Log {
    let keeper = create("keeper", suite, 1_000).expect("created");
    let mut tree = Tree::default();
    (0..5).for_each(|n| tree.append(&entry(n)));
    let signer = keeper.document.signer(&keeper.keys);
    let old = Checkpoint::sign(&tree, &signer, 2_000).expect("signed");
    (5..ENTRIES).for_each(|n| tree.append(&entry(n)));
    let new = Checkpoint::sign(&tree, &signer, 3_000).expect("signed");
    Log {
        keeper,
        tree,
        old,
        new,
    }
}

impl Log {
    fn verify(&self, checkpoint: &Checkpoint) -> Result<()> {
        checkpoint.verify(&self.keeper.document, &Anchors::none())
    }

    /// Whether a COSE receipt shows that this entry is in the log.
    fn shows(&self, receipt: &[u8], entry: &[u8]) -> Result<()> {
        let (checkpoint, _) = Checkpoint::from_inclusion_receipt(receipt, entry)?;
        self.verify(&checkpoint)
    }

    /// Whether a COSE receipt shows that the log continues its older state.
    fn continues(&self, receipt: &[u8]) -> Result<()> {
        self.verify(&Checkpoint::from_consistency_receipt(
            receipt,
            &self.old,
            self.new.root,
        )?)
    }
}

fn named_of_a_log(reason: Refusal) -> bool {
    named(Type::Receipt, reason) || reason == Refusal::ProofOfLogInvalid
}

#[test]
fn every_changed_field_of_a_checkpoint_is_refused() {
    for suite in [Suite::Ed25519, Suite::Ed25519MlDsa44] {
        let log = log(suite);
        assert_eq!(log.verify(&log.new), Ok(()));
        let changes: [(Change, Refusal); 5] = [
            (|c| c.by.agent = AgentId([1; 32]), Refusal::WrongSigner),
            (|c| c.by.key += 1, Refusal::UnknownKey),
            (|c| c.size += 1, Refusal::SignatureInvalid),
            (|c| c.at -= 1, Refusal::SignatureInvalid),
            (|c| c.root.0[0] ^= 1, Refusal::SignatureInvalid),
        ];
        for (change, reason) in changes {
            let mut changed = log.new.clone();
            change(&mut changed);
            assert_eq!(log.verify(&changed), Err(reason));
        }
        // Swapped between two valid ones.
        let parts: [fn(&mut Checkpoint, &Checkpoint); 3] = [
            |c, other| c.size = other.size,
            |c, other| c.at = other.at,
            |c, other| c.root = other.root,
        ];
        for part in parts {
            let mut mixed = log.new.clone();
            part(&mut mixed, &log.old);
            assert_eq!(log.verify(&mixed), Err(Refusal::SignatureInvalid));
        }
    }
}

#[test]
fn every_changed_byte_of_a_checkpoint_is_refused() {
    let log = log(Suite::Ed25519);
    let data = log.new.to_bytes();
    let read = |data: &[u8]| Checkpoint::parse(data).and_then(|checkpoint| log.verify(&checkpoint));
    assert_eq!(read(&data), Ok(()));
    for at in 0..data.len() {
        for flip in [0x01, 0x80] {
            let mut changed = data.clone();
            changed[at] ^= flip;
            let refused = read(&changed).expect_err("changed");
            assert!(named_of_a_log(refused), "byte {at}: {refused:?}");
        }
        assert_eq!(read(&data[..at]), Err(Refusal::Malformed));
    }
}

#[test]
fn checkpoints_out_of_order_and_entries_out_of_order_are_refused() {
    let log = log(Suite::Ed25519);
    let all: Vec<[u8; 2]> = (0..ENTRIES).map(entry).collect();
    let verify = |entries: &[[u8; 2]], checkpoints: &[Checkpoint]| {
        let entries = entries.iter().map(|entry| &entry[..]);
        log::verify(
            entries,
            checkpoints,
            None,
            &log.keeper.document,
            &Anchors::none(),
        )
        .map(|_| ())
    };
    let (old, new) = (log.old.clone(), log.new.clone());
    assert_eq!(verify(&all, &[old.clone(), new.clone()]), Ok(()));
    assert_eq!(verify(&all, &[new, old.clone()]), Err(Refusal::ChainBroken));
    assert_eq!(verify(&all, &[old]), Err(Refusal::LogUnsigned));
    for i in 0..all.len() {
        for j in 0..i {
            let mut moved = all.clone();
            moved.swap(i, j);
            assert_eq!(
                verify(&moved, std::slice::from_ref(&log.new)),
                Err(Refusal::RootMismatch)
            );
        }
    }
}

#[test]
fn every_changed_part_of_an_inclusion_proof_is_refused() {
    let log = log(Suite::Ed25519);
    for n in 0..ENTRIES {
        let proof = InclusionProof::of(&log.tree, n.into(), ENTRIES.into()).expect("in range");
        let shows = |proof: &InclusionProof, entry: &[u8]| {
            log.shows(&log.new.inclusion_receipt(proof), entry)
        };
        assert_eq!(shows(&proof, &entry(n)), Ok(()));
        for other in (0..ENTRIES).filter(|other| *other != n) {
            assert_eq!(shows(&proof, &entry(other)), Err(Refusal::SignatureInvalid));
            let of_other =
                InclusionProof::of(&log.tree, other.into(), ENTRIES.into()).expect("in range");
            // The place or the path of another valid proof.
            let mut mixed = proof.clone();
            mixed.index = of_other.index;
            assert!(shows(&mixed, &entry(n)).is_err_and(named_of_a_log));
            let mut mixed = proof.clone();
            mixed.path = of_other.path;
            assert!(shows(&mixed, &entry(n)).is_err_and(named_of_a_log));
        }
        for size in [proof.size - 1, proof.size + 1] {
            let mut changed = proof.clone();
            changed.size = size;
            assert_eq!(shows(&changed, &entry(n)), Err(Refusal::ProofOfLogInvalid));
        }
        for i in 0..proof.path.len() {
            let mut changed = proof.clone();
            changed.path[i].0[9] ^= 1;
            assert_eq!(shows(&changed, &entry(n)), Err(Refusal::SignatureInvalid));
            let mut without = proof.clone();
            without.path.remove(i);
            assert_eq!(shows(&without, &entry(n)), Err(Refusal::ProofOfLogInvalid));
            let mut doubled = proof.clone();
            doubled.path.insert(i, proof.path[i]);
            assert_eq!(shows(&doubled, &entry(n)), Err(Refusal::ProofOfLogInvalid));
            for j in 0..i {
                let mut moved = proof.clone();
                moved.path.swap(i, j);
                assert_eq!(shows(&moved, &entry(n)), Err(Refusal::SignatureInvalid));
            }
        }
    }
}

#[test]
fn every_changed_part_of_a_consistency_proof_is_refused() {
    let log = log(Suite::Ed25519);
    let proof = ConsistencyProof::of(&log.tree, log.old.size, log.new.size).expect("in range");
    let invalid = Err(Refusal::ProofOfLogInvalid);
    let continues = |proof: &ConsistencyProof| log.continues(&log.new.consistency_receipt(proof));
    assert_eq!(continues(&proof), Ok(()));
    for (old, new) in [(4, 7), (6, 7), (5, 6), (5, 8), (7, 5), (0, 7)] {
        let mut changed = proof.clone();
        (changed.old, changed.new) = (old, new);
        assert_eq!(continues(&changed), invalid);
    }
    for i in 0..proof.path.len() {
        let mut changed = proof.clone();
        changed.path[i].0[9] ^= 1;
        assert_eq!(continues(&changed), invalid);
        let mut without = proof.clone();
        without.path.remove(i);
        assert_eq!(continues(&without), invalid);
        let mut doubled = proof.clone();
        doubled.path.insert(i, proof.path[i]);
        assert_eq!(continues(&doubled), invalid);
        for j in 0..i {
            let mut moved = proof.clone();
            moved.path.swap(i, j);
            assert_eq!(continues(&moved), invalid);
        }
    }
    // The proof of another pair of states.
    let other = ConsistencyProof::of(&log.tree, 3, log.new.size).expect("in range");
    assert_eq!(continues(&other), invalid);
    assert_eq!(proof.verify(&Hash([0; 32]), &log.new.root), invalid);
}

#[test]
fn every_changed_byte_of_a_logs_receipts_is_refused() {
    let log = log(Suite::Ed25519);
    let inclusion = InclusionProof::of(&log.tree, 2, ENTRIES.into()).expect("in range");
    let consistency =
        ConsistencyProof::of(&log.tree, log.old.size, log.new.size).expect("in range");
    let inclusion = log.new.inclusion_receipt(&inclusion);
    let consistency = log.new.consistency_receipt(&consistency);
    assert_eq!(log.shows(&inclusion, &entry(2)), Ok(()));
    assert_eq!(log.continues(&consistency), Ok(()));
    let changed = |data: &[u8], at: usize, flip: u8| {
        let mut changed = data.to_vec();
        changed[at] ^= flip;
        changed
    };
    for flip in [0x01, 0x80] {
        for at in 0..inclusion.len() {
            let refused = log.shows(&changed(&inclusion, at, flip), &entry(2));
            assert!(refused.is_err_and(named_of_a_log), "byte {at}: {refused:?}");
        }
        for at in 0..consistency.len() {
            let refused = log.continues(&changed(&consistency, at, flip));
            assert!(refused.is_err_and(named_of_a_log), "byte {at}: {refused:?}");
        }
    }
    // One kind of receipt is not the other.
    assert_eq!(log.continues(&inclusion), Err(Refusal::WrongType));
    assert_eq!(log.shows(&consistency, &entry(2)), Err(Refusal::WrongType));
}
