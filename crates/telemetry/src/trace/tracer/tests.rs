use super::*;
use crate::trace::{
    Attribute, MAX_KEPT, MAX_SPANS, Value, context::TraceContext, during, is_recorded, note,
    outgoing, request, step, within,
};
use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

const ID: [u8; 16] = *b"AAAAAAAAAAAAAAAB";

fn arrived(context: Option<TraceContext>, by_proxy: bool) -> Arrived {
    Arrived {
        request_id: ID,
        context,
        by_proxy,
        at: Instant::now(),
        now_ms: 1_000,
    }
}

fn parent(sampled: bool) -> TraceContext {
    let flags = if sampled { "01" } else { "00" };
    let text = format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
    TraceContext::read([text.as_bytes()], [b"a=b".as_slice()]).expect("is valid")
}

fn tracer(sample: f64, parents: Parents) -> Tracer {
    Tracer::new(Options {
        sample,
        per_second: 0,
        parents,
        propagates: true,
    })
}

#[test]
fn the_first_ones_of_each_second_are_recorded_whatever_the_share() {
    let tracer = Tracer::new(Options {
        sample: 0.0,
        per_second: 3,
        parents: Parents::Nobody,
        propagates: false,
    });
    let recorded = |now_ms: u64| {
        let request = Arrived {
            now_ms,
            ..arrived(None, false)
        };
        tracer.begin(request, || [7; 24]).is_some()
    };
    let times = [
        1_000, 1_001, 1_002, 1_003, 1_999, 2_000, 2_001, 2_002, 2_003,
    ];
    let seen: Vec<u64> = times.into_iter().filter(|at| recorded(*at)).collect();
    assert_eq!(seen, [1_000, 1_001, 1_002, 2_000, 2_001, 2_002]);
}

/// What is ready at once.
fn run<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

/// Pending once.
async fn breathe() {
    let mut been = false;
    std::future::poll_fn(|_| match std::mem::replace(&mut been, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

#[test]
fn a_tracer_that_is_off_asks_for_no_randomness_and_records_nothing() {
    let tracer = Tracer::default();
    let begun = tracer.begin(arrived(Some(parent(true)), true), || unreachable!());
    assert!(begun.is_none() && !is_recorded());
    run(during(
        ID,
        None,
        pin!(async {
            assert_eq!(request(), Some(ID));
            assert!(!is_recorded());
            assert_eq!(within("sign", || 7), 7);
            step("commit", pin!(async {})).await;
            note(Attribute::Error, || -> u64 { unreachable!() });
        }),
    ));
    assert_eq!(request(), None);
}

#[test]
fn the_share_that_is_recorded_follows_the_request_s_id() {
    assert!(
        tracer(0.0, Parents::Nobody)
            .begin(arrived(None, true), || [7; 24])
            .is_none()
    );
    assert!(
        tracer(1.0, Parents::Nobody)
            .begin(arrived(None, true), || [7; 24])
            .is_some()
    );
    let half = tracer(0.5, Parents::Nobody);
    let begins = |last: &[u8; 10]| {
        let mut request = arrived(None, false);
        request.request_id[6..].copy_from_slice(last);
        half.begin(request, || [7; 24]).is_some()
    };
    // 31 and 32 of 64.
    assert!(begins(b"f_________") && !begins(b"gAAAAAAAAA"));
}

#[test]
fn a_stranger_s_word_counts_only_where_it_is_said_to() {
    let cases = [
        (Parents::Proxies, true, true),
        (Parents::Proxies, false, false),
        (Parents::Everybody, false, true),
        (Parents::Nobody, true, false),
    ];
    for (parents, by_proxy, counts) in cases {
        let begun = tracer(0.0, parents).begin(arrived(Some(parent(true)), by_proxy), || [7; 24]);
        assert_eq!(begun.is_some(), counts, "{parents:?} {by_proxy}");
        // One that does not count is named beside a trace of our own.
        let tracer = tracer(1.0, parents);
        let begun = tracer.begin(arrived(Some(parent(true)), by_proxy), || [7; 24]);
        begun.expect("is recorded").finish(false);
        let done = &tracer.finished().take(1)[0];
        assert_eq!(done.parent.is_some(), counts);
        assert_eq!(done.link.is_some(), !counts);
        assert_eq!(done.trace == parent(true).trace, counts);
        assert_eq!(done.state, if counts { "a=b" } else { "" });
    }
    // Of a caller who does not record, nothing is recorded; calls from here still name its trace.
    let quiet = tracer(1.0, Parents::Everybody);
    let begun = quiet.begin(arrived(Some(parent(false)), false), || [7; 24]);
    let begun = begun.expect("goes on");
    let said = run(during(
        ID,
        Some(&begun),
        pin!(async { (is_recorded(), outgoing()) }),
    ));
    assert_eq!(
        said,
        (false, Some((parent(false).traceparent(), "a=b".into())))
    );
    begun.finish(false);
    assert!(quiet.finished().take(9).is_empty());
}

#[test]
fn steps_are_within_what_they_ran_in_also_where_two_run_at_once() {
    let tracer = tracer(1.0, Parents::Nobody);
    let whole = tracer
        .begin(arrived(None, false), || [7; 24])
        .expect("is recorded");
    let mut work = pin!(async {
        let mut work = pin!(async {
            breathe().await;
            within("inner", || note(Attribute::Jobs, || 3));
        });
        let mut commit = pin!(step("commit", work.as_mut()));
        // Begun, and not done.
        std::future::poll_fn(|task| {
            assert!(commit.as_mut().poll(task).is_pending());
            Poll::Ready(())
        })
        .await;
        within("sign", || note(Attribute::Algorithm, || "ES256"));
        commit.await;
        note(Attribute::Route, || "/token");
    });
    run(during(ID, Some(&whole), work.as_mut()));
    whole.finish(true);
    let done = tracer.finished().take(1).remove(0);
    let names: Vec<_> = done
        .spans
        .iter()
        .map(|span| (span.name, span.parent))
        .collect();
    assert_eq!(
        names,
        [
            ("request", None),
            ("commit", Some(0)),
            ("sign", Some(0)),
            ("inner", Some(1))
        ]
    );
    assert!(done.spans[0].failed);
    assert_eq!(
        done.spans[0].attributes,
        [(Attribute::Route, "/token".into())]
    );
    assert_eq!(
        done.spans[3].attributes,
        [(Attribute::Jobs, Value::Number(3))]
    );
    for span in &done.spans[1..] {
        assert!(span.begin <= span.end && span.end <= done.spans[0].end);
    }
    let ids: std::collections::BTreeSet<_> =
        (0..4).map(|at| done.span_id(at).to_string()).collect();
    assert_eq!(ids.len(), 4);
}

#[test]
fn a_trace_is_bounded_and_so_is_what_is_kept() {
    let tracer = Tracer::default();
    tracer.keep();
    for number in 0..MAX_KEPT + 1 {
        let mut request = arrived(None, false);
        // As many a second as are kept.
        request.now_ms = number as u64 / 100 * 1000;
        request.request_id[..6].copy_from_slice(format!("{number:06}").as_bytes());
        let whole = tracer.begin(request, || [7; 24]).expect("is kept");
        run(during(
            ID,
            Some(&whole),
            pin!(async {
                let steps = if number == MAX_KEPT { 2 * MAX_SPANS } else { 1 };
                (0..steps).for_each(|_| within("sign", || ()));
            }),
        ));
        whole.finish(false);
    }
    assert!(tracer.finished().take(1).is_empty(), "nothing is exported");
    let full = (0..101).filter(|_| {
        let late = Arrived {
            now_ms: 1_000_000,
            ..arrived(None, false)
        };
        tracer.begin(late, || [7; 24]).is_some()
    });
    assert_eq!(full.count(), 100, "the first ones of a second");
    assert!(
        tracer.find("000000AAAAAAAAAB").is_none(),
        "the oldest one is gone"
    );
    assert!(tracer.find("000001AAAAAAAAAB").is_some());
    let last = tracer
        .find(&format!("{MAX_KEPT:06}AAAAAAAAAB"))
        .expect("the last one");
    assert_eq!(
        (last.spans.len(), last.dropped as usize),
        (MAX_SPANS, MAX_SPANS + 1)
    );
    assert!(tracer.find(&last.trace.to_string()).is_some());
}

#[test]
fn a_text_is_cut() {
    let text = Value::from("ä".repeat(500));
    assert_eq!(text, Value::from("ä".repeat(crate::trace::MAX_VALUE_CHARS)));
}
