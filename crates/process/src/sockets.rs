//! Listening sockets and their TLS.

use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
};

use signet_http::{
    Limits, ListenerKind, descriptors,
    listener::{Listener, Listening},
    tls::{Tls, TlsError, TlsOptions},
};

use signet_telemetry::metrics::counted;

use crate::systemd;
use signet_config::{
    Config,
    model::{self, ListenAddress, ListenProtocol},
};
use signet_crypto::private_file;

/// Sockets in the order of the configuration's listeners.
pub struct Bound(Vec<Listening>);

impl Bound {
    /// Development mode: the listener for everybody.
    pub fn public(&self) -> SocketAddr {
        self.0[0].address()
    }
    /// The same sockets once more.
    pub fn try_clone(&self) -> std::io::Result<Bound> {
        let bound = self.0.iter().map(Listening::try_clone);
        Ok(Bound(bound.collect::<std::io::Result<_>>()?))
    }
    /// Development mode: the listener that asks for certificates.
    pub fn mtls(&self) -> SocketAddr {
        self.0[1].address()
    }
}

/// Threads that answer.
pub fn workers(limit: Option<usize>) -> usize {
    limit
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
        .max(1)
}

/// These limits, with no more connections than the process may open files; it may as many as the
/// system lets it.
pub fn within_files(limits: Limits) -> Limits {
    descriptors::fit(limits, descriptors::raise())
}

/// The configuration's listeners.
pub fn bind(config: &Config) -> Result<Bound, String> {
    let workers = workers(config.limits.threads);
    let mut inherited: Vec<Option<TcpListener>> = systemd::inherited_listeners()
        .into_iter()
        .map(Some)
        .collect();
    let mut bound = Vec::new();
    for listener in &config.listeners {
        bound.push(match listener.address {
            ListenAddress::Socket(address) => bind_one(address, workers)?,
            ListenAddress::Inherited(index) => {
                let socket = inherited
                    .get_mut(index)
                    .and_then(Option::take)
                    .ok_or_else(|| {
                        format!(
                            "listener fd:{index}: the service manager handed over no such socket"
                        )
                    })?;
                Listening::from_socket(socket, workers)
                    .map_err(|e| format!("listener fd:{index}: {e}"))?
            }
        });
    }
    Ok(Bound(bound))
}

/// Development mode's public listener. It comes first: a port that is taken says so before anything
/// is made.
pub fn bind_dev(listen: SocketAddr) -> Result<Bound, String> {
    Ok(Bound(vec![bind_one(listen, workers(None))?]))
}

/// Adds development mode's listener for client certificates, on a free port: the last one's if it
/// is free. Writes the port into the directory, which must be this process's own by now.
pub fn bind_dev_mtls(mut bound: Bound, directory: &Path) -> Result<Bound, String> {
    let (ip, workers) = (bound.public().ip(), workers(None));
    let note = directory.join("mtls.port");
    let last = std::fs::read_to_string(&note)
        .ok()
        .and_then(|t| t.trim().parse::<u16>().ok());
    let again = last.and_then(|port| bind_one(SocketAddr::new(ip, port), workers).ok());
    let mtls = match again {
        Some(bound) => bound,
        None => bind_one(SocketAddr::new(ip, 0), workers)?,
    };
    if last != Some(mtls.address().port()) {
        let text = format!("{}\n", mtls.address().port());
        private_file::write(&note, text.as_bytes())
            .map_err(|e| format!("{}: {e}", note.display()))?;
    }
    bound.0.push(mtls);
    Ok(bound)
}

/// One address, without TLS yet, shared by so many threads.
///
/// # Errors
/// Why it cannot be had, for the operator.
pub fn bind_one(address: SocketAddr, workers: usize) -> Result<Listening, String> {
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AddrInUse => format!(
            "cannot listen on {address}: the port is in use; --listen HOST:PORT names another, {}:{} \
             say",
            address.ip(),
            address.port().wrapping_add(1000).max(1024)
        ),
        _ => format!("cannot listen on {address}: {e}"),
    };
    if address.port() != 0 {
        // The workers' sockets share a port (SO_REUSEPORT), with another server of the same user
        // too, each getting some of the other's connections. A socket that does not share finds
        // that out.
        drop(TcpListener::bind(address).map_err(failed)?);
    }
    Listening::bind(address, workers).map_err(failed)
}

/// The listeners, and the certificates that a reload replaces.
pub fn listeners(
    config: &Config,
    base: &Path,
    bound: Bound,
) -> Result<(Vec<Listener>, Vec<Tls>), String> {
    let mut listeners = Vec::new();
    let mut certificates = Vec::new();
    for (listener, listening) in config.listeners.iter().zip(bound.0) {
        let tls = match (listener.protocol, &config.tls) {
            (ListenProtocol::Http, _) => None,
            (_, None) => return Err("https and mtls listeners need [tls]".into()),
            (protocol, Some(tls)) => Some(make_tls(tls, base, protocol == ListenProtocol::Mtls)?),
        };
        certificates.extend(tls.clone());
        let listener_kind = match listener.protocol {
            ListenProtocol::Mtls => ListenerKind::Mtls,
            ListenProtocol::Https | ListenProtocol::Http => ListenerKind::Public,
        };
        listeners.push(Listener {
            listening,
            tls,
            listener_kind,
        });
    }
    say_end(&certificates);
    Ok((listeners, certificates))
}

/// Monitoring knows when the certificate ends: all listeners have the same one.
fn say_end(running: &[Tls]) {
    let end = running.first().and_then(Tls::ends_at).unwrap_or(0);
    counted::CERTIFICATE_END.store(end, Relaxed);
}

/// What the files of `[tls]` hold, PEM.
struct TlsFiles {
    chain: Vec<u8>,
    key: Vec<u8>,
    client_roots: Option<Vec<u8>>,
}

impl TlsFiles {
    fn read(tls: &model::Tls, base: &Path) -> Result<TlsFiles, String> {
        let read = |path: &PathBuf| {
            let path = base.join(path);
            std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        Ok(TlsFiles {
            chain: read(&tls.certificate)?,
            key: read(&tls.key)?,
            client_roots: tls.client_ca.as_ref().map(read).transpose()?,
        })
    }
}

/// Which file of `[tls]` it is that cannot be used.
fn wrong(tls: &model::Tls, base: &Path, error: &TlsError) -> String {
    let file = match (error, &tls.client_ca) {
        (TlsError::ClientRoots(_), Some(file)) => file,
        (TlsError::Key, _) => &tls.key,
        (TlsError::Chain | TlsError::Rustls(_) | TlsError::ClientRoots(_), _) => &tls.certificate,
    };
    format!("{}: {error}", base.join(file).display())
}

/// Reads certificate, key and client CAs again, and puts them in place at running listeners.
///
/// # Errors
/// Which file cannot be used. All listeners have the same files, so then none was changed.
pub fn reload_tls(running: &[Tls], tls: &model::Tls, base: &Path) -> Result<(), String> {
    let files = TlsFiles::read(tls, base)?;
    for listener in running {
        let roots = files.client_roots.as_deref();
        listener
            .reload(&files.chain, &files.key, roots)
            .map_err(|e| wrong(tls, base, &e))?;
    }
    say_end(running);
    Ok(())
}

/// The certificate and key of a listener. `base`: where relative paths start.
///
/// # Errors
/// What is wrong with which file, for the operator.
pub fn make_tls(tls: &model::Tls, base: &Path, ask_for_certificate: bool) -> Result<Tls, String> {
    let files = TlsFiles::read(tls, base)?;
    let options = TlsOptions {
        tls12: tls.tls12,
        ask_for_certificate,
        client_roots: files.client_roots,
    };
    Tls::new(&files.chain, &files.key, &options).map_err(|e| wrong(tls, base, &e))
}
