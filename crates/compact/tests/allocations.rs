//! Nothing is allocated on the way of a token: not to read it, not to check it under a shared or an
//! Ed25519 key, not to write it into a buffer that has the room.
//!
//! Counted is what Rust code asks of its allocator. The library behind ML-DSA and behind signing
//! with Ed25519 is C and asks its own; HMAC and the verification of Ed25519 do not go through it
//! but for the hash.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use signet_compact::{
    Algorithm, Claim, Claims, Confirmation, KeySet, MAX_TOKEN_BYTES, Payload, Policy, Scopes,
    SigningKey, Token, Version,
};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's own promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's own promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocated during `work`.
fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

fn full<'a>(claims: &'a [Claim<'a>]) -> Payload<'a> {
    Payload {
        subject: "user:alice",
        audience: "api.example.com",
        scopes: Scopes::new(&["read", "write"]).unwrap(),
        issued_at: 1_000_000,
        expires_at: u64::MAX,
        issuer: "https://login.example.com",
        token_id: Some(b"0123456789abcdef"),
        confirmation: Some(Confirmation::Jkt(&[7; 32])),
        claims: Claims::new(claims).unwrap(),
        ..Payload::default()
    }
}

#[test]
fn reading_checking_and_writing_a_token_allocate_nothing() {
    assert_eq!(
        allocations(|| drop(Vec::<u8>::with_capacity(9))),
        1,
        "it counts"
    );
    let claims = [Claim {
        name: "client_id",
        json: "\"service\"",
    }];
    let full = full(&claims);
    let small = Payload {
        issuer: "",
        token_id: None,
        confirmation: None,
        claims: Claims::default(),
        ..full
    };
    let policy = Policy {
        confirmation: full.confirmation,
        scopes: &["read"],
        ..Policy::for_audience("api.example.com", 2_000_000)
    };
    for algorithm in [
        Algorithm::HmacSha256,
        Algorithm::Ed25519,
        Algorithm::MlDsa44,
    ] {
        let key = SigningKey::generate(algorithm).unwrap();
        let verifying = key.verifying_key().unwrap();
        let set = KeySet::new([key.verifying_key().unwrap()]).unwrap();
        for (version, payload) in [(Version::V0, &small), (Version::V1, &full)] {
            let mut out = Vec::with_capacity(MAX_TOKEN_BYTES);
            key.sign_into(version, payload, &mut out).unwrap();
            if algorithm == Algorithm::HmacSha256 {
                let mut exact = Vec::with_capacity(out.len() + 8);
                let signed = allocations(|| key.sign_into(version, payload, &mut exact).unwrap());
                assert_eq!(signed, 0, "{version:?}");
                assert_eq!(exact, out);
            }
            let parsed = allocations(|| assert!(Token::parse(&out).is_ok()));
            assert_eq!(parsed, 0, "{algorithm:?} {version:?}");
            if algorithm != Algorithm::MlDsa44 {
                let checked = allocations(|| {
                    verifying.verify(&out, &policy).unwrap();
                    set.verify(&out, &policy).unwrap();
                });
                assert_eq!(checked, 0, "{algorithm:?} {version:?}");
            }
            // A forgery costs no more than a token.
            let last = out.len() - 1;
            out[last] ^= 1;
            let refused = allocations(|| assert!(verifying.verify(&out, &policy).is_err()));
            if algorithm != Algorithm::MlDsa44 {
                assert_eq!(refused, 0, "{algorithm:?} {version:?}");
            }
        }
    }
}
