//! A cached hit and a structural refusal allocate nothing: counted, not measured.
#![allow(
    unsafe_code,
    reason = "an allocator is unsafe by its signature; this one only counts"
)]

use crate::support::*;
use signet_verify::{Policy, Presented, Refusal, Verifier};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

impl Counting {
    fn count() {
        // A thread that ends may allocate when this is gone already.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
    }
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Counting::count();
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        unsafe { System.dealloc(place, layout) }
    }
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Counting::count();
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of a hundred calls, after some that may set up what a thread keeps for good.
fn allocations(call: impl Fn()) -> usize {
    for _ in 0..10 {
        call();
    }
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        call();
    }
    ALLOCATIONS.get() - before
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1]))), 100);
}

#[test]
fn a_cached_hit_allocates_nothing() {
    let v = verifier();
    let token = access().signed();
    let presented = Presented::token(&token);
    assert!(v.verify(&presented, NOW).is_ok());
    let bearer = format!("Bearer {token}");
    let hit = || {
        let verified = v.verify(&presented, NOW).unwrap();
        assert_eq!(verified.claims().sub(), Some("alice"));
        let presented = Presented::authorization(&bearer).unwrap();
        assert!(v.verify(&presented, NOW).is_ok());
    };
    assert_eq!(allocations(hit), 0);
    assert!(v.counters().cached() >= 220);
}

#[test]
fn v14_a_structural_refusal_allocates_nothing() {
    let good = access();
    let token = good.signed();
    let (header, payload, signature) = parts(&token);
    let with_header = |header: &str| format!("{}.{payload}.{signature}", encode(header));
    for (reason, junk) in [
        (Refusal::NoToken, String::new()),
        (Refusal::TooLarge, "a".repeat(20_000)),
        (Refusal::Malformed, "a".repeat(10_000)),
        (Refusal::Malformed, ".".repeat(10_000)),
        (Refusal::Malformed, format!("{header}.{payload}")),
        (Refusal::Malformed, format!("{token}.{signature}")),
        (Refusal::Malformed, format!("{token}=")),
        (
            Refusal::Malformed,
            format!("{header}=.{payload}.{signature}"),
        ),
        (Refusal::Malformed, with_header("{")),
        (Refusal::Malformed, with_header(r#"{"alg":1}"#)),
        (
            Refusal::Malformed,
            with_header(r#"{"alg":"ES256","alg":"ES256"}"#),
        ),
        (
            Refusal::Algorithm,
            with_header(r#"{"alg":"none","typ":"at+jwt"}"#),
        ),
        (
            Refusal::Algorithm,
            with_header(r#"{"alg":"HS256","typ":"at+jwt","kid":"key-ES256"}"#),
        ),
        (
            Refusal::Critical,
            with_header(r#"{"alg":"ES256","crit":["x"]}"#),
        ),
        (
            Refusal::Extension,
            with_header(r#"{"alg":"ES256","b64":false}"#),
        ),
        (
            Refusal::Type,
            with_header(r#"{"alg":"ES256","typ":"JWT","kid":"key-ES256"}"#),
        ),
        (
            Refusal::UnknownKey,
            with_header(r#"{"alg":"ES256","typ":"at+jwt","kid":"other"}"#),
        ),
        (
            Refusal::KeyMismatch,
            with_header(r#"{"alg":"RS256","typ":"at+jwt","kid":"key-ES256"}"#),
        ),
        (Refusal::Signature, format!("{header}.{payload}.AAAA")),
        (
            Refusal::Signature,
            format!("{header}.{payload}.{}", "A".repeat(88)),
        ),
    ] {
        let v = verifier();
        let refuse = || assert_eq!(verify(&v, &junk).unwrap_err(), reason);
        let shown = &junk[..junk.len().min(80)];
        assert_eq!(allocations(refuse), 0, "{reason:?}: {shown}");
    }
}

#[test]
fn a_flood_of_refused_tokens_keeps_no_memory() {
    let v = Verifier::builder()
        .issuer(issuer())
        .policy(Policy::access_token(AUDIENCE))
        .build()
        .unwrap();
    let token = access().signed();
    assert!(verify(&v, &token).is_ok());
    let kept = v.cached_bytes();
    let (header, payload, _) = parts(&token);
    for n in 0..2_000 {
        let forged = format!("{header}.{payload}.{:A>86}", n);
        assert!(verify(&v, &forged).is_err());
    }
    assert_eq!(v.cached_bytes(), kept, "what was refused is not kept");
}
