//! Which core whom is measured on.
//!
//! To wake a thread of another core takes an interrupt between the two, which costs as much as a
//! token; a thread of the same core is woken for nothing. So what is compared must lie at the same
//! distance from the client, and the scheduler does not care for that: left alone, it made one of
//! two servers seem twice as fast as the other, in either direction.

use std::process::{Command, Stdio};

/// The client's thread and the servers on one core, until this is dropped: where one request is
/// under way at a time, none of them waits for another.
#[derive(Debug)]
pub struct Together {
    cores: String,
    processes: Vec<u32>,
}

impl Together {
    /// Places the calling process' main thread, and every thread of the servers. None: there is no
    /// `taskset` (util-linux), and everything stays where the scheduler puts it.
    #[must_use]
    pub fn place(servers: &[u32]) -> Option<Together> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let cores = allowed(&status)?;
        let one = last(cores);
        // What was placed before one fails is put back by the drop.
        let placed = Together {
            cores: cores.to_owned(),
            processes: servers.to_vec(),
        };
        let servers = servers.iter().all(|process| pin(*process, one, true));
        (servers && pin(std::process::id(), one, false)).then_some(placed)
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        pin(std::process::id(), &self.cores, false);
        for process in &self.processes {
            pin(*process, &self.cores, true);
        }
    }
}

/// As `/proc/PID/status` says it: `0-3,8`.
fn allowed(status: &str) -> Option<&str> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(str::trim)
}

/// The last core of such a list: interrupts of devices come to the first.
fn last(list: &str) -> &str {
    list.rsplit(['-', ',']).next().unwrap_or(list)
}

fn pin(process: u32, cores: &str, all_threads: bool) -> bool {
    let mut taskset = Command::new("taskset");
    if all_threads {
        taskset.arg("-a");
    }
    taskset.args(["-c", "-p", cores, &process.to_string()]);
    let quiet = taskset.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_core_is_found_in_any_list() {
        let status = "Name:\tx\nCpus_allowed_list:\t0-3\nMems: 0";
        assert_eq!(allowed(status), Some("0-3"));
        for (list, expected) in [("0-3", "3"), ("2-7,9", "9"), ("0,4-16", "16"), ("5", "5")] {
            assert_eq!(last(list), expected);
        }
    }
}
