//! What recording costs a request: the calls that a token request makes, without the request. To be
//! compared with what the whole request costs (docs/performance.md).
//!
//!     cargo run --release -p signet-telemetry --example cost [recorded]
#![allow(clippy::print_stdout, reason = "a program that prints")]

use std::{
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Instant,
};

use signet_telemetry::trace::{
    Arrived, Attribute, Options, Parents, Tracer, during, note, step, within,
};

const REQUESTS: u32 = 200_000;
const ID: [u8; 16] = *b"AAAAAAAAAAAAAAAA";

/// The steps of `client_credentials`.
async fn request() {
    note(Attribute::Realm, || "https://id.example.com".to_owned());
    step("read the body", pin!(async { black_box(1) })).await;
    within("authenticate the client", || black_box(2));
    within("decide", || black_box(3));
    within("ask the access rules", || black_box(4));
    within("sign the access token", || black_box(5));
}

/// The same without a call.
async fn bare() {
    let body = pin!(async { black_box(1) });
    body.await;
    (2..6).for_each(|number| {
        black_box(number);
    });
}

fn poll(work: impl Future<Output = ()>) {
    let mut work = pin!(work);
    let done = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(done, Poll::Ready(()));
}

fn nanos(mut one: impl FnMut()) -> f64 {
    let begun = Instant::now();
    (0..REQUESTS).for_each(|_| one());
    begun.elapsed().as_nanos() as f64 / f64::from(REQUESTS)
}

fn of(tracer: &Tracer) {
    let trace = match tracer.is_on() {
        false => None,
        true => {
            let arrived = Arrived {
                request_id: ID,
                context: None,
                by_proxy: false,
                at: Instant::now(),
                now_ms: 1_000,
            };
            tracer.begin(arrived, || [7; 24])
        }
    };
    poll(async {
        during(ID, trace.as_ref(), pin!(request())).await;
    });
    if let Some(trace) = trace {
        trace.note(Attribute::Method, "POST");
        trace.note(Attribute::Route, "/token");
        trace.note(Attribute::Status, 200);
        trace.note(Attribute::ClientId, "service".to_owned());
        trace.note(Attribute::GrantType, "client_credentials");
        trace.finish(false);
        tracer.finished().take(64);
    }
}

fn main() {
    let options = |sample| Options {
        sample,
        per_second: 0,
        parents: Parents::Proxies,
        propagates: true,
    };
    let tracers = [
        ("no endpoint", Tracer::default()),
        ("an endpoint, not recorded", Tracer::new(options(0.0))),
        ("recorded", Tracer::new(options(1.0))),
    ];
    let bare = nanos(|| poll(bare()));
    // One of them alone, for a program that counts instructions.
    let only = std::env::args().nth(1);
    for (name, tracer) in tracers {
        if only.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let cost = nanos(|| of(&tracer)) - bare;
        println!("{name}: {cost:.0} ns a request");
    }
}
