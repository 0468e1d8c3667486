//! What no cluster can be faster than: a word is signed twice, travels over TLS to another process,
//! is verified there, and a short answer comes back.
use serde_json::{Value, json};
use signet_bench::client::Failure;
use signet_crypto::{Algorithm, SigningKey, VerifyingKey, certificate::DevelopmentCa};
use std::{
    fmt,
    fs::{self, File},
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};

/// Turns the benchmark's own executable into the other process; a directory follows.
pub(crate) const ARGUMENT: &str = "--signet-bench-word";
/// Of a batch with one revocation, without its signatures.
const BODY: usize = 220;
/// Of both signatures (RFC 8032; FIPS 204 table 2).
const SIGNATURES: usize = 64 + 3309;
/// Of an acknowledgement.
const ANSWER: usize = 48;

/// Milliseconds, each the median of many.
pub(crate) struct Floor {
    sign: f64,
    verify: f64,
    echo: f64,
    flush: f64,
    cores: usize,
}

impl Floor {
    /// For a cluster: one signature, the way there and back, and as many verifications one after
    /// the other as there are other nodes for each core; beside the delay of one way.
    pub(crate) fn between(&self, nodes: usize, delay_ms: f64) -> f64 {
        let turns = (nodes.saturating_sub(1)).div_ceil(self.cores) as f64;
        self.sign + self.echo + self.verify * turns + delay_ms
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "sign_ms": self.sign, "verify_ms": self.verify, "echo_ms": self.echo,
            "journal_flush_ms": self.flush, "cores": self.cores,
        })
    }
}

impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "floor: two signatures {:.3} ms, their verification {:.3}, a frame of {} bytes over TLS to another process and an answer {:.3}, a flush of the disk {:.3}; {} cores",
            self.sign,
            self.verify,
            BODY + SIGNATURES,
            self.echo,
            self.flush,
            self.cores
        )
    }
}

struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times
        .get(times.len() / 2)
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// With so many repetitions of each.
pub(crate) fn measure(times: usize) -> Result<Floor, Failure> {
    let directory = tempfile::tempdir()?;
    let peer = Command::new(std::env::current_exe()?)
        .arg(ARGUMENT)
        .arg(directory.path())
        .stdin(Stdio::null())
        .spawn()?;
    let _peer = Peer(peer);
    let port = directory.path().join("port");
    let begun = Instant::now();
    while !port.exists() {
        if begun.elapsed() > Duration::from_secs(30) {
            return Err("the other process of the floor does not answer".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let port: u16 = fs::read_to_string(port)?.parse()?;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(
        directory.path().join("ca.pem"),
    )?)?;
    let config = ClientConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from("localhost")?;
    let mut tls = StreamOwned::new(ClientConnection::new(Arc::new(config), name)?, stream);

    let keys = [
        SigningKey::generate(Algorithm::EdDsa)?,
        SigningKey::generate(Algorithm::MlDsa65)?,
    ];
    let public: Vec<VerifyingKey> = keys
        .iter()
        .map(SigningKey::verifying_key)
        .collect::<Result<_, _>>()?;
    let (mut signs, mut verifies) = (Vec::new(), Vec::new());
    let (mut echoes, mut flushes) = (Vec::new(), Vec::new());
    let mut file = File::create(directory.path().join("journal"))?;
    let mut answer = [0; ANSWER];
    for number in 0..times.max(20) {
        // As seldom as the writes that are measured: caches are as cold.
        std::thread::sleep(Duration::from_millis(5));
        let mut body = vec![0; BODY];
        body[..8].copy_from_slice(&(number as u64).to_be_bytes());
        let begun = Instant::now();
        let mut signatures = [Vec::new(), Vec::new()];
        for (key, out) in keys.iter().zip(&mut signatures) {
            key.sign_into(&body, out)?;
        }
        signs.push(begun.elapsed());
        let begun = Instant::now();
        tls.write_all(&[&body[..], &signatures.concat()[..]].concat())?;
        tls.flush()?;
        tls.read_exact(&mut answer)?;
        echoes.push(begun.elapsed());
        let begun = Instant::now();
        for (key, signature) in public.iter().zip(&signatures) {
            key.verify(&body, signature)?;
        }
        verifies.push(begun.elapsed());
        let begun = Instant::now();
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        flushes.push(begun.elapsed());
    }
    Ok(Floor {
        sign: median(signs),
        verify: median(verifies),
        echo: median(echoes),
        flush: median(flushes),
        cores: std::thread::available_parallelism()?.get(),
    })
}

/// The other process: answers each frame, until the connection ends.
pub(crate) fn answer(directory: &Path) -> Result<(), Failure> {
    let ca = DevelopmentCa::generate()?;
    let (chain, key) = ca.issue_server(&["localhost".to_owned()])?;
    let chain = CertificateDer::pem_slice_iter(chain.as_bytes()).collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(key.expose().as_bytes())?;
    let config = ServerConfig::builder_with_protocol_versions(&[&rustls::version::TLS13])
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    fs::write(directory.join("ca.pem"), ca.cert_pem())?;
    let port = listener.local_addr()?.port().to_string();
    fs::write(directory.join("port.new"), port)?;
    fs::rename(directory.join("port.new"), directory.join("port"))?;
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut tls = StreamOwned::new(ServerConnection::new(Arc::new(config))?, stream);
    let mut frame = [0; BODY + SIGNATURES];
    while tls.read_exact(&mut frame).is_ok() {
        tls.write_all(&[2; ANSWER])?;
        tls.flush()?;
    }
    Ok(())
}
