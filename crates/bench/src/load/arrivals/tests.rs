//! That the generator can be trusted: against servers that stall, lie, refuse and break off.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use super::*;
use crate::client::Target;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use signet_crypto::certificate::DevelopmentCa;

/// A server of TLS, a thread a connection; `answer` is given the number of the request.
fn server(answer: impl Fn(u64) -> Option<Vec<u8>> + Send + Sync + 'static) -> Target {
    let ca = DevelopmentCa::generate().expect("a CA");
    let (chain, key) = ca
        .issue_server(&["localhost".to_owned()])
        .expect("a certificate");
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain.as_bytes()).collect();
    let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes()).expect("a key");
    let config = rustls::ServerConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .with_no_client_auth()
        .with_single_cert(chain.expect("a chain"), key)
        .expect("a configuration");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicU64::new(0)));
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.expect("accepted");
            socket.set_nodelay(true).expect("a socket");
            let (config, answer, count) = (config.clone(), answer.clone(), count.clone());
            std::thread::spawn(move || {
                let mut tls = rustls::ServerConnection::new(config).expect("a session");
                let mut stream = rustls::Stream::new(&mut tls, &mut socket);
                let mut buffer = [0; 1024];
                while let Ok(1..) = stream.read(&mut buffer) {
                    let Some(answer) = answer(count.fetch_add(1, Relaxed)) else {
                        return;
                    };
                    if stream.write_all(&answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    Target::new(port, ca.cert_pem().as_bytes(), None).expect("a target")
}

fn ok(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Knows that the right answer is `right`.
struct Oracle;

impl Actor for Oracle {
    fn begin(&mut self) -> Vec<u8> {
        b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        match answer.body {
            b"right" => Verdict::Right,
            _ if answer.is_shed() => Verdict::Shed,
            _ => Verdict::Wrong(answer.shown()),
        }
    }
}

fn hold(rate: f64, milliseconds: u64) -> Hold {
    Hold {
        rate,
        time: Duration::from_millis(milliseconds),
        patience: Duration::from_secs(5),
        threads: 2,
        connections: 4,
    }
}

/// A closed load on four connections would have met this stall four times among hundreds, and shown
/// a 95th percentile of less than a millisecond.
#[test]
fn a_stalled_server_shows_in_the_percentiles_of_all_that_were_due() {
    let stall = Duration::from_millis(400);
    let stalled_until = Arc::new(std::sync::OnceLock::new());
    let target = server(move |n| {
        // From the hundredth request on, everybody waits until one moment.
        if n >= 100 {
            let until = *stalled_until.get_or_init(|| Instant::now() + stall);
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        Some(ok("right"))
    });
    let outcome = hold(500.0, 1000)
        .run(&[target], &|_| Oracle)
        .expect("a load");
    assert_eq!(
        (outcome.due, outcome.right, outcome.wrong),
        (500, 500, 0),
        "{:?}",
        outcome.shown
    );
    assert_eq!(outcome.times.len(), 500);
    // Two hundred of five hundred were due within the stall, their waits even between it and none:
    // three quarters of all waited less than a third of the stall, one in ten more than half of it.
    let ms = |percent: f64| outcome.times.value_at_percentile(percent) / 1000;
    assert!(ms(90.0) >= 200, "90 %: {} ms", ms(90.0));
    assert!(ms(99.0) >= 350, "99 %: {} ms", ms(99.0));
}

#[test]
fn one_wrong_answer_fails_the_run_and_is_shown() {
    let target = server(|n| Some(ok(if n == 57 { "a lie" } else { "right" })));
    let outcome = hold(400.0, 300)
        .run(&[target], &|_| Oracle)
        .expect("a load");
    assert_eq!((outcome.wrong, outcome.right), (1, 119));
    let failure = outcome.all_right().expect_err("a wrong answer").to_string();
    assert!(
        failure.contains("1 wrong answers of 120: 200 a lie"),
        "{failure}"
    );
}

#[test]
fn what_finds_no_connection_in_time_is_dropped_and_counted() {
    let target = server(|_| {
        std::thread::sleep(Duration::from_millis(100));
        Some(ok("right"))
    });
    let mut hold = hold(200.0, 500);
    hold.patience = Duration::from_millis(150);
    let outcome = hold.run(&[target], &|_| Oracle).expect("a load");
    // Four connections that take 100 ms each answer forty a second.
    assert_eq!(outcome.due, 100);
    assert!(outcome.dropped >= 50, "{}", outcome.dropped);
    let accounted = outcome.right + outcome.dropped + outcome.unanswered;
    assert_eq!(accounted, outcome.due, "every operation is accounted for");
    assert_eq!(outcome.times.len(), outcome.due, "also the times have them");
    let step = outcome.step(&hold);
    assert!(step.achieved < 80.0, "{}", step.achieved);
    assert_eq!(step.dropped, outcome.dropped);
}

#[test]
fn a_refusal_for_load_counts_as_one_only_if_it_says_when_to_come_again() {
    let target = server(|n| {
        let when = if n.is_multiple_of(2) {
            "retry-after: 1\r\n"
        } else {
            ""
        };
        let text = format!("HTTP/1.1 503 Unavailable\r\n{when}content-length: 0\r\n\r\n");
        Some(text.into_bytes())
    });
    let outcome = hold(200.0, 100)
        .run(&[target], &|_| Oracle)
        .expect("a load");
    assert_eq!((outcome.shed, outcome.wrong), (10, 10));
}

#[test]
fn a_connection_that_breaks_is_counted_and_opened_again() {
    let target = server(|n| (n != 10).then(|| ok("right")));
    let outcome = hold(200.0, 300)
        .run(&[target], &|_| Oracle)
        .expect("a load");
    assert_eq!(
        (outcome.unanswered, outcome.right, outcome.due),
        (1, 59, 60)
    );
}

#[test]
fn an_answer_in_chunks_is_read_whole() {
    let target = server(|_| {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        Some(format!("{head}3\r\nrig\r\n2;x=y\r\nht\r\n0\r\n\r\n").into_bytes())
    });
    let outcome = hold(100.0, 100)
        .run(&[target], &|_| Oracle)
        .expect("a load");
    assert_eq!(
        (outcome.right, outcome.due),
        (10, 10),
        "{:?}",
        outcome.shown
    );
}

#[test]
fn an_operation_of_several_requests_is_timed_as_one() {
    struct Two(u32);
    impl Actor for Two {
        fn begin(&mut self) -> Vec<u8> {
            self.0 = 0;
            Oracle.begin()
        }
        fn answered(&mut self, _: &Answer<'_>) -> Verdict {
            self.0 += 1;
            match self.0 {
                1 => Verdict::Next(Oracle.begin()),
                2 => Verdict::Wait,
                _ => Verdict::Right,
            }
        }
        fn waited(&mut self) -> Option<Vec<u8>> {
            Some(Oracle.begin())
        }
    }
    let target = server(|_| {
        std::thread::sleep(Duration::from_millis(5));
        Some(ok("right"))
    });
    let outcome = hold(50.0, 200).run(&[target], &|_| Two(0)).expect("a load");
    assert_eq!((outcome.right, outcome.due), (10, 10));
    assert!(outcome.times.min() >= 15_000, "{} us", outcome.times.min());
}
