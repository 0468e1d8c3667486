//! The service manager: telling it how things are, and taking sockets that it opened. Without it
//! nothing happens.

mod inherited;

pub use inherited::inherited_listeners;

use std::os::{
    linux::net::SocketAddrExt,
    unix::net::{SocketAddr, UnixDatagram},
};

/// What the manager is notified of (sd_notify(3)).
#[derive(Clone, Copy, Debug)]
pub enum Notice {
    /// Requests are answered.
    Ready,
    /// The configuration is being read again; `Ready` follows.
    Reloading,
    /// No more connections are accepted.
    Stopping,
}

/// Sends a notice to `NOTIFY_SOCKET`, if there is one. A failure is only worth a log line.
pub fn notify(notice: Notice) {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let message = match notice {
        Notice::Ready => "READY=1\nSTATUS=answering requests".to_owned(),
        Notice::Reloading => format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_usec()),
        Notice::Stopping => "STOPPING=1\nSTATUS=finishing requests".to_owned(),
    };
    if let Err(error) = send(socket.as_encoded_bytes(), message.as_bytes()) {
        tracing::warn!(%error, "failed to notify the service manager");
    }
}

fn send(name: &[u8], message: &[u8]) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    // A leading @ stands for the abstract name space.
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))?,
    };
    UnixDatagram::unbound()?.send_to_addr(message, &address)?;
    Ok(())
}

/// The monotonic clock, which the standard library does not show. The kernel's text has hundredths
/// of a second; rounded up, because the manager ignores an answer from before its question.
fn monotonic_usec() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds: f64 = text
        .split(' ')
        .next()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0.0);
    // Exact enough: 2^53 microseconds are 285 years.
    ((seconds + 0.01) * 1e6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_arrives_at_a_path_and_at_an_abstract_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let by_path = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str().as_encoded_bytes(), b"READY=1").unwrap();
        let name = format!("signet-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let by_name = UnixDatagram::bind_addr(&address).unwrap();
        send(format!("@{name}").as_bytes(), b"READY=1").unwrap();
        for socket in [by_path, by_name] {
            let mut buffer = [0; 16];
            assert_eq!(socket.recv(&mut buffer).unwrap(), 7);
            assert_eq!(&buffer[..7], b"READY=1");
        }
    }
}
