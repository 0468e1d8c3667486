//! Log lines go to standard error: short text on a terminal, JSON otherwise. The level can change
//! while the server runs.

use std::io::IsTerminal;

use tracing_subscriber::{
    EnvFilter, fmt,
    layer::SubscriberExt,
    util::{SubscriberInitExt, TryInitError},
};

use crate::log_budget::LogBudget;
use crate::log_lines::{Exported, Lines};
use signet_config::model::{Log, LogFormat, LogRequests};

/// Changes the level of the running process.
pub struct LogLevel {
    set: Box<dyn Fn(EnvFilter) -> bool + Send>,
    /// How many lines a second each place of the program may log.
    pub budget: LogBudget,
}

impl LogLevel {
    /// Puts the configuration's level in place, unless RUST_LOG rules. False: it could not be
    /// changed.
    pub fn apply(&self, log: &Log) -> bool {
        self.budget.set(log.per_second);
        filter(log).is_ok_and(|f| (self.set)(f))
    }
}

/// RUST_LOG, then the configuration, then "info".
fn filter(log: &Log) -> Result<EnvFilter, String> {
    let rust_log = std::env::var("RUST_LOG").ok().filter(|v| !v.is_empty());
    let mut directives = rust_log
        .clone()
        .or_else(|| log.level.clone())
        .unwrap_or_else(|| "info".into());
    if rust_log.is_none() {
        // The consensus library tells each of its steps; what matters to an operator is logged by
        // signet_consensus.
        directives.push_str(",openraft=off");
    }
    if rust_log.is_none() && log.requests == LogRequests::All {
        // Requests that went well are logged at level debug.
        directives.push_str(",signet::request=debug");
    }
    EnvFilter::try_new(&directives).map_err(|e| format!("log level \"{directives}\": {e}"))
}

/// Starts logging. To be called once.
pub fn start(log: &Log) -> Result<LogLevel, String> {
    let terminal = std::io::stderr().is_terminal();
    let default = if terminal {
        LogFormat::Text
    } else {
        LogFormat::Json
    };
    let filter = filter(log)?;
    let budget = LogBudget::new(log.per_second);
    let failed = |e: TryInitError| e.to_string();
    let lines = match log.format.unwrap_or(default) {
        LogFormat::Json => Lines::Json,
        // https://no-color.org: whatever it is set to, but for nothing.
        LogFormat::Text => Lines::Text {
            short: terminal,
            coloured: terminal && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty()),
        },
    };
    let builder = fmt()
        .with_writer(std::io::stderr)
        .event_format(lines)
        .with_env_filter(filter)
        .with_filter_reloading();
    let handle = builder.reload_handle();
    let all = builder.finish().with(Exported).with(budget.clone());
    all.try_init().map_err(failed)?;
    let set: Box<dyn Fn(EnvFilter) -> bool + Send> = Box::new(move |f| handle.reload(f).is_ok());
    Ok(LogLevel { set, budget })
}
