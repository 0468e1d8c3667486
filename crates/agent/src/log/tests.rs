//! Trees against RFC 9162's definitions, and logs that are tampered with.

use signet_crypto::hash::sha256;

use super::*;
use crate::id::Hash;
use crate::identity::{Created, create};
use crate::keys::Suite;

fn tree(entries: &[Vec<u8>]) -> Tree {
    let mut tree = Tree::default();
    entries.iter().for_each(|entry| tree.append(entry));
    tree
}

fn entries(count: u8) -> Vec<Vec<u8>> {
    (0..count).map(|i| vec![i; usize::from(i) + 1]).collect()
}

/// MTH, written as the RFC defines it.
fn defined_root(entries: &[Vec<u8>]) -> [u8; 32] {
    match entries {
        [] => sha256(b""),
        [one] => sha256(&[&[0], one.as_slice()].concat()),
        many => {
            let mut k = 1;
            while 2 * k < many.len() {
                k *= 2;
            }
            let (left, right) = (defined_root(&many[..k]), defined_root(&many[k..]));
            sha256(&[&[1], left.as_slice(), &right].concat())
        }
    }
}

#[test]
fn roots_are_those_of_rfc_9162() {
    let all = entries(40);
    let tree = tree(&all);
    for size in 0..=40 {
        assert_eq!(
            tree.root_at(size as u64).0,
            defined_root(&all[..size]),
            "{size}"
        );
    }
}

#[test]
fn every_inclusion_proof_holds_for_its_own_entry_and_place_only() {
    let all = entries(20);
    let tree = tree(&all);
    for size in 1..=20 {
        let root = tree.root_at(size);
        for index in 0..size {
            let proof = InclusionProof::of(&tree, index, size).expect("in range");
            assert_eq!(InclusionProof::parse(&proof.to_bytes()), Ok(proof.clone()));
            assert_eq!(proof.root(&all[index as usize]), Ok(root));
            for other in 0..size {
                let holds = proof.root(&all[other as usize]) == Ok(root);
                assert_eq!(holds, other == index);
                let moved = InclusionProof {
                    index: other,
                    ..proof.clone()
                };
                let holds = moved.root(&all[index as usize]) == Ok(root);
                assert!(!holds || other == index, "{index} as {other} of {size}");
            }
            let mut longer = proof.clone();
            longer.path.push(root);
            assert!(longer.root(&all[index as usize]) != Ok(root));
            for cut in 0..proof.path.len() {
                let mut shorter = proof.clone();
                shorter.path.remove(cut);
                assert!(shorter.root(&all[index as usize]) != Ok(root));
                let mut changed = proof.clone();
                changed.path[cut].0[0] ^= 1;
                assert!(changed.root(&all[index as usize]) != Ok(root));
            }
        }
        assert!(InclusionProof::of(&tree, size, size).is_none());
    }
}

#[test]
fn every_consistency_proof_holds_for_its_own_sizes_only() {
    let all = entries(20);
    let tree = tree(&all);
    for new in 1..=20 {
        for old in 1..=new {
            let proof = ConsistencyProof::of(&tree, old, new).expect("in range");
            assert_eq!(
                ConsistencyProof::parse(&proof.to_bytes()),
                Ok(proof.clone())
            );
            let (old_root, new_root) = (tree.root_at(old), tree.root_at(new));
            assert_eq!(proof.verify(&old_root, &new_root), Ok(()), "{old} {new}");
            let wrong = Hash([7; 32]);
            assert!(proof.verify(&wrong, &new_root).is_err());
            assert!(proof.verify(&old_root, &wrong).is_err());
            for cut in 0..proof.path.len() {
                let mut shorter = proof.clone();
                shorter.path.remove(cut);
                assert!(shorter.verify(&old_root, &new_root).is_err());
                let mut changed = proof.clone();
                changed.path[cut].0[31] ^= 1;
                assert!(changed.verify(&old_root, &new_root).is_err());
            }
        }
    }
}

fn log(suite: Suite) -> (Created, Vec<Vec<u8>>, Vec<Checkpoint>) {
    let operator = create("log", suite, 0).expect("created");
    let all = entries(9);
    let checkpoints = [4, 9].map(|size| {
        let tree = tree(&all[..size]);
        Checkpoint::sign(
            &tree,
            &operator.document.signer(&operator.keys),
            size as u64,
        )
        .expect("signed")
    });
    (operator, all, checkpoints.to_vec())
}

fn check(
    entries: &[Vec<u8>],
    checkpoints: &[Checkpoint],
    known: Option<&Checkpoint>,
    by: &Created,
) -> Result<()> {
    verify(
        entries.iter().map(Vec::as_slice),
        checkpoints,
        known,
        &by.document,
        &Anchors::none(),
    )
    .map(|_| ())
}

// Known fault G9: a receipt rewritten, cut out, dropped from the tail: still valid.
#[test]
fn truncation_insertion_reordering_and_rewriting_are_detected() {
    let (operator, all, checkpoints) = log(Suite::Ed25519);
    let test = |entries: &[Vec<u8>]| check(entries, &checkpoints, None, &operator);
    assert_eq!(test(&all), Ok(()));
    for i in 0..all.len() {
        let mut changed = all.clone();
        changed[i][0] ^= 1;
        assert_eq!(test(&changed), Err(Refusal::RootMismatch), "rewritten {i}");
        let mut changed = all.clone();
        changed.remove(i);
        assert!(test(&changed).is_err(), "removed {i}");
        let mut changed = all.clone();
        changed.insert(i, b"new".to_vec());
        assert_eq!(test(&changed), Err(Refusal::RootMismatch), "inserted {i}");
        for j in 0..i {
            let mut changed = all.clone();
            changed.swap(i, j);
            assert_eq!(
                test(&changed),
                Err(Refusal::RootMismatch),
                "swapped {i} {j}"
            );
        }
    }
    let mut longer = all.clone();
    longer.push(b"unsigned".to_vec());
    assert_eq!(test(&longer), Err(Refusal::LogUnsigned));
    for len in 0..all.len() {
        assert!(test(&all[..len]).is_err(), "cut to {len}");
    }
    // The tail dropped together with its checkpoint: whoever has kept that checkpoint sees it.
    assert_eq!(check(&all[..4], &checkpoints[..1], None, &operator), Ok(()));
    assert_eq!(
        check(&all[..4], &checkpoints[..1], checkpoints.last(), &operator),
        Err(Refusal::LogTruncated)
    );
    let reversed: Vec<_> = checkpoints.iter().rev().cloned().collect();
    assert_eq!(
        check(&all, &reversed, None, &operator),
        Err(Refusal::ChainBroken)
    );
    let stranger = create("mallory", Suite::Ed25519, 0).expect("created");
    assert_eq!(
        check(&all, &checkpoints, None, &stranger),
        Err(Refusal::WrongSigner)
    );
}

#[test]
fn cose_receipts_prove_entries_and_older_states() {
    for suite in [Suite::Ed25519, Suite::Ed25519MlDsa44] {
        let (operator, all, checkpoints) = log(suite);
        let tree = tree(&all);
        let last = &checkpoints[1];
        assert_eq!(Checkpoint::parse(&last.to_bytes()).as_ref(), Ok(last));
        let proof = InclusionProof::of(&tree, 2, 9).expect("in range");
        let receipt = last.inclusion_receipt(&proof);
        let read = |entry: &[u8]| {
            let (checkpoint, proof) = Checkpoint::from_inclusion_receipt(&receipt, entry)?;
            checkpoint
                .verify(&operator.document, &Anchors::none())
                .map(|()| proof.index)
        };
        assert_eq!(read(&all[2]), Ok(2));
        assert_eq!(read(&all[3]), Err(Refusal::SignatureInvalid));
        assert_eq!(Checkpoint::parse(&receipt), Err(Refusal::WrongType));
        let proof = ConsistencyProof::of(&tree, 4, 9).expect("in range");
        let receipt = last.consistency_receipt(&proof);
        let continued = Checkpoint::from_consistency_receipt(&receipt, &checkpoints[0], last.root)
            .expect("continues");
        assert_eq!(
            continued.verify(&operator.document, &Anchors::none()),
            Ok(())
        );
        let mut other = checkpoints[0].clone();
        other.root = Hash([1; 32]);
        assert!(Checkpoint::from_consistency_receipt(&receipt, &other, last.root).is_err());
    }
}

#[test]
fn every_changed_byte_of_a_checkpoint_is_refused() {
    let (operator, _, checkpoints) = log(Suite::Ed25519);
    let data = checkpoints[0].to_bytes();
    for at in 0..data.len() {
        let mut changed = data.clone();
        changed[at] ^= 1;
        let refused = Checkpoint::parse(&changed)
            .and_then(|c| c.verify(&operator.document, &Anchors::none()));
        assert!(refused.is_err(), "byte {at}");
    }
}
