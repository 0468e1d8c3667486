//! Connections between nodes, over real sockets.
use crate::node::{Echo, Heard, LONG, Node, block_on, eventually, name, nodes, stamp};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use signet_cluster::{
    NodeId,
    links::{LinkState, Resolver, Topology, frame},
    transport::{CallError, Caller, NotSent, Serve, Transport},
};
use signet_crypto::certificate::NodeCertificate;
use signet_merge::tell::BoxFuture;
use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

fn start(nodes: &mut [Node]) {
    nodes.iter_mut().for_each(Node::start);
}

fn connected(node: &Node) -> Vec<String> {
    let names = node.links().connected();
    names.iter().map(|node| node.as_str().to_owned()).collect()
}

#[test]
fn members_connect_and_frames_arrive_in_their_order() {
    let mut nodes = nodes(3, |_, _| {});
    start(&mut nodes);
    eventually("a full mesh", || {
        nodes.iter().all(|node| connected(node).len() == 2)
    });
    for number in 0..1000_u32 {
        let frame = number.to_be_bytes().to_vec();
        while nodes[0].links().send(&name("b"), frame.clone()) == Err(NotSent::NotConnected) {}
    }
    let mut expected = 0_u32;
    while expected < 1000 {
        if let Heard::Frame(from, frame) = nodes[1].hears() {
            assert_eq!(from, name("a"));
            let number = u32::from_be_bytes(frame.try_into().expect("four bytes"));
            // A connection that was replaced in the beginning may have lost some.
            assert!(number >= expected, "{number} after {expected}");
            expected = number + 1;
        }
    }
}

#[test]
fn one_connection_of_a_pair_stays_and_both_sides_agree_which() {
    for _ in 0..5 {
        let mut nodes = nodes(2, |_, _| {});
        start(&mut nodes);
        let dialled = |node: &Node| {
            let states = node.links().states();
            states[0].connection.as_ref().map(|c| c.dialled)
        };
        eventually("one connection", || {
            let (a, b) = (dialled(&nodes[0]), dialled(&nodes[1]));
            a.is_some() && a == b.map(|dialled| !dialled)
        });
    }
}

#[test]
fn heartbeats_measure_the_way_and_the_clock() {
    let mut nodes = nodes(2, |_, _| {});
    start(&mut nodes);
    let measured = |node: &Node| -> Option<(Duration, i64)> {
        let LinkState { connection, .. } = node.links().states().pop()?;
        let connection = connection?;
        assert!(connection.since_ms > 0);
        Some((connection.rtt?, connection.clock_offset_ms?))
    };
    eventually("a measurement", || measured(&nodes[0]).is_some());
    if let Some((rtt, offset)) = measured(&nodes[0]) {
        assert!(rtt < LONG);
        assert!(offset.unsigned_abs() <= LONG.as_millis() as u64);
    }
}

#[test]
fn calls_are_answered_refused_or_fail_by_their_deadline() {
    struct Never(Mutex<Option<oneshot::Sender<()>>>);
    struct TellsItsEnd(Option<oneshot::Sender<()>>);
    impl Drop for TellsItsEnd {
        fn drop(&mut self) {
            let _ = self.0.take().map(|end| end.send(()));
        }
    }
    impl Serve for Never {
        fn serve(&self, _: &NodeId, _: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
            let end = TellsItsEnd(self.0.lock().expect("unpoisoned").take());
            Box::pin(async move {
                let _end = end;
                std::future::pending().await
            })
        }
    }
    struct Refuses;
    impl Serve for Refuses {
        fn serve(&self, from: &NodeId, _: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
            let why = format!("not for {from}");
            Box::pin(std::future::ready(Err(why)))
        }
    }
    struct TooMuch;
    impl Serve for TooMuch {
        fn serve(&self, _: &NodeId, _: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
            let most = signet_cluster::transport::MAX_CALL_BYTES;
            Box::pin(std::future::ready(Ok(vec![0; most + 1])))
        }
    }
    let mut nodes = nodes(2, |_, _| {});
    let (end, ended) = oneshot::channel();
    let services = &nodes[1].services;
    services.put(0, Arc::new(Echo));
    services.put(64, Arc::new(Echo));
    services.put(192, Arc::new(Echo));
    services.put(65, Arc::new(Refuses));
    services.put(66, Arc::new(Never(Mutex::new(Some(end)))));
    services.put(67, Arc::new(TooMuch));
    start(&mut nodes);
    eventually("a connection", || !connected(&nodes[0]).is_empty());
    let b = name("b");
    let call = |service, request, deadline| nodes[0].links().call(&b, service, request, deadline);
    block_on(async {
        for service in [0, 64, 192] {
            for len in [0, 1, 100_000] {
                let answer = call(service, vec![7; len], LONG).await;
                assert_eq!(answer, Ok(vec![7; len]), "{service}");
            }
        }
        let refused = CallError::Refused("not for a".into());
        assert_eq!(call(65, vec![], LONG).await, Err(refused));
        assert_eq!(call(99, vec![], LONG).await, Err(CallError::NoService));
        assert_eq!(call(67, vec![], LONG).await, Err(CallError::TooLong));
        let soon = Duration::from_millis(20);
        assert_eq!(call(66, vec![], soon).await, Err(CallError::Late));
        // And the other node has given up, too.
        ended.await.expect("the service's future was dropped");
        let most = signet_cluster::transport::MAX_CALL_BYTES;
        let longest = call(192, vec![1; most], LONG).await;
        assert_eq!(longest.map(|answer| answer.len()), Ok(most));
        let longer = call(192, vec![1; most + 1], LONG).await;
        assert_eq!(longer, Err(CallError::TooLong));
        let nobody = nodes[0].links().call(&name("z"), 0, vec![], LONG).await;
        assert_eq!(nobody, Err(CallError::NotConnected));
    });
}

#[test]
fn a_call_fails_at_once_when_its_connection_is_lost() {
    struct Hangs(Mutex<Option<oneshot::Sender<()>>>);
    impl Serve for Hangs {
        fn serve(&self, _: &NodeId, _: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
            let asked = self.0.lock().expect("unpoisoned").take();
            let _ = asked.map(|asked| asked.send(()));
            Box::pin(std::future::pending())
        }
    }
    let mut nodes = nodes(2, |_, _| {});
    let (ask, asked) = oneshot::channel();
    nodes[1]
        .services
        .put(64, Arc::new(Hangs(Mutex::new(Some(ask)))));
    start(&mut nodes);
    eventually("one connection", || {
        let states = nodes[0].links().states();
        states[0].connection.as_ref().is_some_and(|c| c.dialled)
    });
    let mut second = nodes.pop().expect("two");
    let call = nodes[0].links().call(&second.name, 64, vec![], 10 * LONG);
    let lost = block_on(async move {
        let asking = tokio::spawn(call);
        asked.await.expect("it arrives");
        let stopping = tokio::task::spawn_blocking(move || second.stop());
        let lost = asking.await.expect("ended");
        stopping.await.expect("stopped");
        lost
    });
    assert_eq!(lost, Err(CallError::Lost));
}

#[test]
fn small_frames_are_not_held_up_by_large_calls() {
    let mut nodes = nodes(2, |_, _| {});
    nodes[1].services.put(192, Arc::new(Echo));
    start(&mut nodes);
    eventually("one connection", || {
        let states = nodes[0].links().states();
        states[0].connection.as_ref().is_some_and(|c| c.dialled)
    });
    let b = name("b");
    // More than what kernel buffers hold: without lanes a frame would wait for all of it.
    let calls: Vec<_> = (0..24)
        .map(|_| nodes[0].links().call(&b, 192, vec![1; 1 << 20], LONG))
        .collect();
    let (answered, all_answered) = mpsc::channel();
    let calling = std::thread::spawn(move || {
        block_on(async {
            let calls: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
            for call in calls {
                let answer = call.await.expect("ended");
                assert_eq!(answer.map(|a| a.len()), Ok(1 << 20));
                answered.send(Instant::now()).expect("the test waits");
            }
        });
    });
    let (mut before, mut frames) = (0, 0);
    loop {
        nodes[0].links().send(&b, b"small".to_vec()).expect("sent");
        nodes[1].waits_for(&Heard::Frame(name("a"), b"small".to_vec()));
        frames += 1;
        before += all_answered.try_iter().count();
        if before == 24 {
            break;
        }
    }
    calling.join().expect("ended");
    // Each frame would wait for 24 MiB if it stood behind them; so many went before the end.
    assert!(frames > 24, "{frames}");
}

#[test]
fn what_a_peer_does_not_take_is_refused_at_the_sender() {
    let mut nodes = nodes(2, |_, _| {});
    nodes[0].options.silence = LONG;
    nodes.truncate(2);
    nodes[0].start();
    // The other one greets and then reads nothing.
    let peer = nodes[1].listener.take().expect("a listener");
    let identity = nodes[1].identity.clone();
    let spki = nodes[0].identity.public().spki_sha256;
    let (done, wait) = mpsc::channel::<()>();
    let silent = std::thread::spawn(move || {
        let mut tls = raw_server(&peer, identity.tls(), spki);
        tls.greet("b");
        let _ = wait.recv_timeout(LONG);
    });
    eventually("a connection", || !connected(&nodes[0]).is_empty());
    let frame = vec![0; 1 << 20];
    let mut sent = 0;
    while nodes[0].links().send(&name("b"), frame.clone()) == Ok(()) {
        sent += 1;
        assert!(sent < 100, "the queue has no bound");
    }
    let refused = nodes[0].links().send(&name("b"), frame);
    assert_eq!(refused, Err(NotSent::Full));
    let too_long = nodes[0].links().send(&name("b"), vec![0; (1 << 20) + 1]);
    assert_eq!(too_long, Err(NotSent::TooLong));
    done.send(()).expect("it waits");
    silent.join().expect("ended");
}

#[test]
fn a_node_that_comes_back_is_connected_again() {
    let mut nodes = nodes(2, |_, _| {});
    start(&mut nodes);
    let mut second = nodes.pop().expect("two");
    let up = Heard::Up(second.name.clone());
    nodes[0].waits_for(&up);
    for _ in 0..3 {
        second.stop();
        nodes[0].waits_for(&Heard::Down(second.name.clone()));
        second.start();
        nodes[0].waits_for(&up);
        second.waits_for(&Heard::Up(name("a")));
    }
}

/// Carries bytes between two nodes until it is cut: then it takes everything and says
/// nothing, as a network does that has lost one side.
struct Wire {
    address: SocketAddr,
    cut: Arc<Mutex<bool>>,
}

impl Wire {
    fn to(target: SocketAddr) -> Wire {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = listener.local_addr().expect("bound");
        let cut = Arc::new(Mutex::new(false));
        let is_cut = cut.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if *is_cut.lock().expect("unpoisoned") {
                    std::mem::forget(stream);
                    continue;
                }
                let Ok(other) = TcpStream::connect(target) else {
                    continue;
                };
                let pump = |mut from: TcpStream, mut to: TcpStream| {
                    let is_cut = is_cut.clone();
                    std::thread::spawn(move || {
                        let mut bytes = [0; 4096];
                        while let Ok(n @ 1..) = from.read(&mut bytes) {
                            if !*is_cut.lock().expect("unpoisoned")
                                && to.write_all(&bytes[..n]).is_err()
                            {
                                break;
                            }
                        }
                        if *is_cut.lock().expect("unpoisoned") {
                            std::mem::forget((from, to));
                        } else {
                            let _ = to.shutdown(std::net::Shutdown::Both);
                        }
                    });
                };
                pump(
                    stream.try_clone().expect("a socket"),
                    other.try_clone().expect("a socket"),
                );
                pump(other, stream);
            }
        });
        Wire { address, cut }
    }

    fn set_cut(&self, cut: bool) {
        *self.cut.lock().expect("unpoisoned") = cut;
    }
}

#[test]
fn a_half_open_connection_ends_by_silence_and_comes_back() {
    let mut nodes = vec![Node::new("a"), Node::new("b")];
    let wires: Vec<Wire> = nodes.iter().map(|node| Wire::to(node.address)).collect();
    for node in &nodes {
        for (other, wire) in nodes.iter().zip(&wires) {
            let mut member = other.member();
            member.addresses = vec![wire.address.to_string()];
            node.knows(&member);
        }
    }
    start(&mut nodes);
    nodes[0].waits_for(&Heard::Up(name("b")));
    nodes[1].waits_for(&Heard::Up(name("a")));
    wires.iter().for_each(|wire| wire.set_cut(true));
    nodes[0].waits_for(&Heard::Down(name("b")));
    nodes[1].waits_for(&Heard::Down(name("a")));
    eventually("nobody is connected", || {
        nodes.iter().all(|node| connected(node).is_empty())
    });
    wires.iter().for_each(|wire| wire.set_cut(false));
    nodes[0].waits_for(&Heard::Up(name("b")));
    nodes[1].waits_for(&Heard::Up(name("a")));
}

#[test]
fn a_removed_member_is_disconnected_and_not_let_in_again() {
    let mut nodes = nodes(3, |_, _| {});
    start(&mut nodes);
    eventually("a full mesh", || {
        nodes.iter().all(|node| connected(node).len() == 2)
    });
    // Told to a and b only: c believes that it is a member and goes on connecting.
    for node in &nodes[..2] {
        let (fingerprint, removal) = node.members.removal(&name("c"), stamp(9)).expect("there");
        node.members.merge(fingerprint, removal).expect("removed");
    }
    for node in &nodes[..2] {
        node.waits_for(&Heard::Down(name("c")));
        assert!(!connected(node).contains(&"c".to_owned()));
        let sent = node.links().send(&name("c"), vec![]);
        assert_eq!(sent, Err(NotSent::NotConnected));
    }
    // It tries, and is refused each time.
    let spki = nodes[0].identity.public().spki_sha256;
    for node in &nodes[..2] {
        let pins = vec![spki, node.identity.public().spki_sha256];
        let refused = raw_client(node.address, Some(nodes[2].identity.tls()), pins, MEMBER);
        assert!(refused.greeting().is_none());
    }
    assert_eq!(connected(&nodes[0]), ["b"]);
    // The same name with new keys is another member.
    let mut again = Node::new("c");
    for node in &nodes[..2] {
        node.knows(&again.member());
        again.knows(&node.member());
    }
    again.knows(&again.member());
    again.start();
    again.waits_for(&Heard::Up(name("a")));
    nodes[0].waits_for(&Heard::Up(name("c")));
}

#[test]
fn a_node_that_learns_of_its_own_removal_leaves_everybody_alone() {
    let mut nodes = nodes(2, |_, _| {});
    start(&mut nodes);
    nodes[1].waits_for(&Heard::Up(name("a")));
    let (fingerprint, removal) = nodes[1]
        .members
        .removal(&name("b"), stamp(9))
        .expect("there");
    nodes[1]
        .members
        .merge(fingerprint, removal)
        .expect("removed");
    nodes[1].waits_for(&Heard::Down(name("a")));
}

const MEMBER: &[u8] = b"signet-cluster-1";

#[test]
fn who_has_no_members_certificate_gets_an_alert_and_nothing_else() {
    let mut nodes = nodes(2, |_, _| {});
    start(&mut nodes);
    let a = nodes[0].address;
    let pins = vec![nodes[0].identity.public().spki_sha256];
    let nobody = NodeCertificate::generate("nobody").expect("made");
    for certificate in [None, Some(&nobody)] {
        let refused = raw_client(a, certificate, pins.clone(), MEMBER);
        assert!(refused.greeting().is_none());
    }
    // Another protocol, an invitation that is not there, and none at all.
    let own = nodes[1].identity.tls();
    for alpn in [&b"h2"[..], b"signet-join-1/AAAA", b""] {
        let refused = raw_client(a, Some(own), pins.clone(), alpn);
        assert!(refused.greeting().is_none(), "{alpn:?}");
    }
    // Bytes that are no TLS: an alert at most.
    let mut stream = TcpStream::connect(a).expect("connected");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    let mut answer = Vec::new();
    // A reset is an answer, too.
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
    // A member's key opens the door, and under its own name only.
    let other = raw_client(a, Some(own), pins.clone(), MEMBER);
    assert_eq!(other.greeting().as_deref(), Some("a"));
}

#[test]
fn only_the_hybrid_key_exchange_is_spoken() {
    let mut nodes = nodes(2, |_, _| {});
    start(&mut nodes[..1]);
    let pins = vec![nodes[0].identity.public().spki_sha256];
    let own = nodes[1].identity.tls();
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.kx_groups = vec![rustls::crypto::aws_lc_rs::kx_group::X25519];
    let refused = raw_client_with(provider, nodes[0].address, Some(own), pins, MEMBER);
    assert!(refused.greeting().is_none());
}

#[test]
fn a_member_that_sends_garbage_is_disconnected() {
    let mut nodes = nodes(2, |_, _| {});
    start(&mut nodes[..1]);
    let pins = vec![nodes[0].identity.public().spki_sha256];
    let mut request = vec![0; 14];
    request[9] = 192;
    let mut wrong_lane = Vec::new();
    frame::write_fragment(frame::Channel::Call, true, &request, &mut wrong_lane);
    let mut short = Vec::new();
    frame::write_fragment(frame::Channel::Call, true, &[0; 13], &mut short);
    let mut pong = Vec::new();
    frame::write_fragment(frame::Channel::Control, true, &[2, 0], &mut pong);
    for garbage in [vec![9; 100], vec![1, 0, 0, 0], wrong_lane, short, pong] {
        let own = nodes[1].identity.tls();
        let mut peer = raw_client(nodes[0].address, Some(own), pins.clone(), MEMBER);
        peer.greet("b");
        nodes[0].waits_for(&Heard::Up(name("b")));
        peer.send(&garbage);
        nodes[0].waits_for(&Heard::Down(name("b")));
    }
    // Under another member's name.
    let own = nodes[1].identity.tls();
    let mut peer = raw_client(nodes[0].address, Some(own), pins, MEMBER);
    peer.greet("a");
    assert!(peer.ends());
}

#[test]
fn addresses_are_tried_in_turn_and_a_name_may_stand_for_several_nodes() {
    let refuses = TcpListener::bind("127.0.0.1:0").expect("bound");
    let nothing = refuses.local_addr().expect("bound").to_string();
    drop(refuses);
    let mut nodes = vec![Node::new("a"), Node::new("b"), Node::new("c")];
    let wrong = nodes[2].address.to_string();
    let port = nodes[1].address.port();
    for node in &nodes {
        for other in &nodes {
            let mut member = other.member();
            if other.name == name("b") {
                // Nothing listens, another node listens, and a name that is resolved.
                let own = format!("localhost:{port}");
                member.addresses = vec![nothing.clone(), wrong.clone(), own];
            } else {
                member.addresses = Vec::new();
            }
            node.knows(&member);
        }
    }
    start(&mut nodes);
    nodes[0].waits_for(&Heard::Up(name("b")));
}

#[test]
fn a_member_at_none_of_its_addresses_is_found_among_the_peers() {
    let mut nodes = nodes(3, |_, member| member.addresses = vec!["127.0.0.1:1".into()]);
    let peers: Vec<String> = nodes.iter().map(|node| node.address.to_string()).collect();
    nodes[0].options.peers = peers;
    start(&mut nodes);
    eventually("both are found", || connected(&nodes[0]) == ["b", "c"]);
}

#[test]
fn a_name_of_a_headless_service_stands_for_all_nodes_that_are_there_at_the_moment() {
    let mut nodes = nodes(3, |_, member| member.addresses = vec!["127.0.0.1:1".into()]);
    let behind: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
    let asked = Arc::clone(&behind);
    nodes[0].options.peers = vec!["nodes.example:7443".to_owned()];
    nodes[0].options.resolver = Resolver::new(move |address| {
        let found = match &*address {
            "nodes.example:7443" => Ok(asked.lock().expect("unpoisoned").clone()),
            other => other
                .parse()
                .map(|address| vec![address])
                .map_err(io::Error::other),
        };
        Box::pin(std::future::ready(found))
    });
    // First the name stands for one of them and for a place where nothing is; then for both.
    let nothing: SocketAddr = "127.0.0.1:1".parse().expect("an address");
    *behind.lock().expect("unpoisoned") = vec![nothing, nodes[1].address];
    let third = nodes[2].address;
    start(&mut nodes);
    eventually("the first is found", || connected(&nodes[0]) == ["b"]);
    *behind.lock().expect("unpoisoned") = vec![nodes[1].address, nothing, third];
    eventually("both are found", || connected(&nodes[0]) == ["b", "c"]);
}

#[test]
fn spokes_connect_to_hubs_only_and_one_hub_may_die() {
    let mut nodes = nodes(5, |at, member| member.hub = at < 2);
    for node in &mut nodes {
        node.options.topology = Topology::Hubs;
    }
    start(&mut nodes);
    eventually("hubs and spokes", || {
        connected(&nodes[0]).len() == 4
            && connected(&nodes[1]).len() == 4
            && nodes[2..].iter().all(|node| connected(node) == ["a", "b"])
    });
    nodes[0].stop();
    let left = &nodes[1..];
    eventually("one hub", || {
        connected(&left[0]).len() == 3 && left[1..].iter().all(|node| connected(node) == ["b"])
    });
    nodes[1]
        .links()
        .send(&name("e"), b"on".to_vec())
        .expect("sent");
    nodes[4].waits_for(&Heard::Frame(name("b"), b"on".to_vec()));
    // Two spokes that need each other connect.
    nodes[2].links().want(BTreeSet::from([name("d")]));
    eventually("a connection of two spokes", || {
        connected(&nodes[2]) == ["b", "d"] && connected(&nodes[3]) == ["b", "c"]
    });
}

#[test]
fn handshakes_in_progress_are_bounded_and_members_still_come_in() {
    let mut nodes = nodes(2, |_, _| {});
    nodes[0].options.handshake = Duration::from_millis(300);
    start(&mut nodes[..1]);
    // They say nothing, and hold on.
    let idle: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(nodes[0].address).expect("connected"))
        .collect();
    let mut closed = 0;
    for mut stream in idle {
        stream.set_read_timeout(Some(LONG)).expect("set");
        // Turned away at once, or when its time was over.
        closed += usize::from(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    }
    assert_eq!(closed, 100);
    start(&mut nodes[1..]);
    nodes[0].waits_for(&Heard::Up(name("b")));
}

// A peer that a test plays itself.

#[derive(Debug)]
struct Pins(Vec<[u8; 32]>, rustls::crypto::WebPkiSupportedAlgorithms);

impl rustls::client::danger::ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        let spki = signet_crypto::certificate::spki_sha256(end_entity).expect("a certificate");
        assert!(self.0.contains(&spki), "another node answered");
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2".into()))
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.1)
    }
    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.1.supported_schemes()
    }
}

impl rustls::server::danger::ClientCertVerifier for Pins {
    fn root_hint_subjects(&self) -> &[rustls::DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<rustls::server::danger::ClientCertVerified, rustls::Error> {
        Ok(rustls::server::danger::ClientCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2".into()))
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.1)
    }
    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.1.supported_schemes()
    }
}

struct Raw(Box<dyn ReadWrite>);

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

impl Raw {
    /// The name that the node greets with; `None`: it says nothing.
    fn greeting(mut self) -> Option<String> {
        let mut hello = [0; 15];
        self.0.read_exact(&mut hello).ok()?;
        assert_eq!(hello[..2], [0, 1]);
        String::from_utf8(hello[14..].to_vec()).ok()
    }

    fn greet(&mut self, name: &str) {
        let mut hello = vec![0, 1];
        hello.extend_from_slice(&[7; 8]);
        hello.extend_from_slice(name.as_bytes());
        let mut out = Vec::new();
        frame::write_fragment(frame::Channel::Control, true, &hello, &mut out);
        self.send(&out);
    }

    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("sent");
        self.0.flush().expect("sent");
    }

    fn ends(mut self) -> bool {
        let mut rest = Vec::new();
        // Its greeting and a heartbeat may come first.
        self.0.read_to_end(&mut rest).is_err() || rest.len() < 100
    }
}

fn raw_client(
    address: SocketAddr,
    certificate: Option<&NodeCertificate>,
    pins: Vec<[u8; 32]>,
    alpn: &[u8],
) -> Raw {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    raw_client_with(provider, address, certificate, pins, alpn)
}

fn raw_client_with(
    provider: rustls::crypto::CryptoProvider,
    address: SocketAddr,
    certificate: Option<&NodeCertificate>,
    pins: Vec<[u8; 32]>,
    alpn: &[u8],
) -> Raw {
    let algorithms = provider.signature_verification_algorithms;
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pins(pins, algorithms)));
    let mut config = match certificate {
        Some(own) => {
            let (chain, key) = pair(own);
            builder.with_client_auth_cert(chain, key).expect("a key")
        }
        None => builder.with_no_client_auth(),
    };
    if !alpn.is_empty() {
        config.alpn_protocols = vec![alpn.to_vec()];
    }
    let name = ServerName::try_from("node").expect("a name");
    let tls = rustls::ClientConnection::new(Arc::new(config), name).expect("a connection");
    let stream = TcpStream::connect(address).expect("connected");
    stream.set_read_timeout(Some(LONG)).expect("set");
    Raw(Box::new(rustls::StreamOwned::new(tls, stream)))
}

fn raw_server(listener: &TcpListener, own: &NodeCertificate, pin: [u8; 32]) -> Raw {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let algorithms = provider.signature_verification_algorithms;
    let (chain, key) = pair(own);
    let mut config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_client_cert_verifier(Arc::new(Pins(vec![pin], algorithms)))
        .with_single_cert(chain, key)
        .expect("a key");
    config.alpn_protocols = vec![MEMBER.to_vec()];
    let (stream, _) = listener.accept().expect("accepted");
    let tls = rustls::ServerConnection::new(Arc::new(config)).expect("a connection");
    Raw(Box::new(rustls::StreamOwned::new(tls, stream)))
}

fn pair(own: &NodeCertificate) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let key = PrivateKeyDer::try_from(own.key().expose().clone()).expect("a key");
    let chain = vec![CertificateDer::from(own.certificate().to_vec())];
    (chain, key)
}
