//! Open files: each connection is one, and a process may have no more than the system lets it.
use crate::limits::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are not connections: the store, the audit trail, the listeners' own, calls to
/// others.
const RESERVED: u64 = 128;

/// Raises the process's soft limit of open files to its hard one (`RLIMIT_NOFILE`), and says how
/// many it may have now. None: as many as it likes. Where the system refuses, the soft limit stays
/// and counts.
pub fn raise() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return current;
    }
    let wanted = Rlimit {
        current: maximum,
        maximum,
    };
    match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => maximum,
        Err(error) => {
            tracing::warn!(%error, "failed to raise the limit of open files");
            current
        }
    }
}

/// What of these limits fits into so many descriptors. Connections beyond that would not be
/// refused, but left in the sockets' queues, and the server could not be reached until others
/// close.
pub fn fit(limits: Limits, descriptors: Option<u64>) -> Limits {
    let Some(descriptors) = descriptors else {
        return limits;
    };
    let room = descriptors.saturating_sub(RESERVED).max(descriptors / 2);
    if limits.connections <= room {
        return limits;
    }
    // The default is as many as a large server wants. Where nobody asked for a number, what the
    // system gives is as good a one, and no reason to warn at every start.
    if limits.connections == Limits::default().connections {
        tracing::debug!(
            descriptors,
            connections = room,
            "limited connections to the open-file limit (RLIMIT_NOFILE)"
        );
    } else {
        tracing::warn!(
            descriptors,
            configured = limits.connections,
            connections = room,
            "reduced the connection limit below the configured one: open-file limit (RLIMIT_NOFILE, systemd's LimitNOFILE)"
        );
    }
    // One address may not take what is left alone.
    let share = u32::try_from(room / 2).unwrap_or(u32::MAX).max(1);
    let of_an_address = match limits.connections_per_address {
        0 => 0,
        configured => configured.min(share),
    };
    Limits {
        connections: room,
        connections_per_address: of_an_address,
        ..limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_no_more_than_the_files_that_the_process_may_open() {
        let limits = Limits::default();
        let of = |descriptors| {
            let fitted = fit(limits, descriptors);
            (fitted.connections, fitted.connections_per_address)
        };
        assert_eq!(of(None), (20_000, 1_000));
        assert_eq!(of(Some(1_048_576)), (20_000, 1_000));
        assert_eq!(of(Some(1_024)), (896, 448));
        assert_eq!(of(Some(200)), (100, 50));
        let unbounded = Limits {
            connections_per_address: 0,
            ..limits
        };
        assert_eq!(fit(unbounded, Some(1_024)).connections_per_address, 0);
    }

    #[test]
    fn the_soft_limit_is_raised_to_the_hard_one() {
        let may = raise();
        let now = getrlimit(Resource::Nofile);
        assert_eq!((now.current, now.maximum), (may, may));
    }
}
