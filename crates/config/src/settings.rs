//! What an operator can set: one row a setting, by the one name that it has in file, commands and
//! documentation.
//!
//! Documentation, type and default of a setting are its type's, in [`crate::model`]; what a row
//! adds is whose it is, when a change of it takes effect, and its range. The check of a file, what
//! a reload says, the JSON Schema, `signet explain` and docs/settings.md are made of both.

use serde_json::Value;
use signet_directory::{LONGEST_MINIMUM, MIN_PASSWORD_CHARS};
use signet_oauth::settings::BOUNDS;

use crate::{duration::Duration, fault::Faults, model::Config};

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name: `lifetimes.code`. Of a list of records, the list's.
    pub path: &'static str,
    /// Whose it is.
    pub owner: Owner,
    /// When a change of it counts.
    pub takes_effect: TakesEffect,
    range: Option<Range>,
}

/// Whose a setting is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The process', whatever issuers it serves.
    Process,
    /// The realm's: one issuer with its people and clients.
    Realm,
}

impl Owner {
    /// "process" or "realm".
    pub fn name(self) -> &'static str {
        match self {
            Owner::Process => "process",
            Owner::Realm => "realm",
        }
    }
}

/// When a change of a setting counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TakesEffect {
    /// When the file is read again (SIGHUP).
    Reload,
    /// When the process starts.
    Restart,
}

impl TakesEffect {
    /// "reload" or "restart".
    pub fn name(self) -> &'static str {
        match self {
            TakesEffect::Reload => "reload",
            TakesEffect::Restart => "restart",
        }
    }
}

/// What a number may be. A length of time counts in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The least.
    pub least: u64,
    /// The most, where there is a bound.
    pub most: Option<u64>,
    /// 0 too, which turns it off.
    pub or_zero: bool,
}

impl Setting {
    const fn from(self, least: u64) -> Setting {
        let range = Range {
            least,
            most: None,
            or_zero: false,
        };
        Setting {
            range: Some(range),
            ..self
        }
    }

    const fn to(self, most: u64) -> Setting {
        let Some(range) = self.range else { return self };
        let range = Range {
            most: Some(most),
            ..range
        };
        Setting {
            range: Some(range),
            ..self
        }
    }

    const fn or_zero(self) -> Setting {
        let Some(range) = self.range else { return self };
        let range = Range {
            or_zero: true,
            ..range
        };
        Setting {
            range: Some(range),
            ..self
        }
    }

    const fn at_reload(self) -> Setting {
        Setting {
            takes_effect: TakesEffect::Reload,
            ..self
        }
    }

    const fn at_restart(self) -> Setting {
        Setting {
            takes_effect: TakesEffect::Restart,
            ..self
        }
    }

    /// What it may be; the protocol's are the rules' own.
    pub fn range(&self) -> Option<Range> {
        let bound = BOUNDS.iter().find(|bound| bound.path == self.path);
        let of_rules = bound.map(|bound| Range {
            least: bound.least,
            most: Some(bound.most),
            or_zero: false,
        });
        self.range.or(of_rules)
    }
}

const fn process(path: &'static str) -> Setting {
    Setting {
        path,
        owner: Owner::Process,
        takes_effect: TakesEffect::Restart,
        range: None,
    }
}

const fn realm(path: &'static str) -> Setting {
    Setting {
        path,
        owner: Owner::Realm,
        takes_effect: TakesEffect::Reload,
        range: None,
    }
}

const MINUTE: u64 = 60;
const DAY: u64 = 86_400;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Every setting, in the order of the manual.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    realm("issuer").at_restart(),
    process("data_dir"),
    process("node"),
    process("listeners"),
    process("tls.certificate").at_reload(),
    process("tls.key").at_reload(),
    process("tls.client_ca").at_reload(),
    process("tls.tls12"),
    process("proxy.trusted"),
    process("proxy.secret_file"),
    process("proxy.secret_header"),
    process("proxy.forwarded_header"),
    process("proxy.client_certificate_header"),
    process("proxy.client_certificate_url"),
    process("proxy.verifies_client_certificates"),
    process("store.engine"),
    process("store.url"),
    process("store.password"),
    process("store.directory"),
    process("store.reserve_bytes").from(MIB).to(1024 * MIB).or_zero(),
    realm("mail.from").at_restart(),
    realm("mail.smtp.host").at_restart(),
    realm("mail.smtp.port").at_restart(),
    realm("mail.smtp.security").at_restart(),
    realm("mail.smtp.username").at_restart(),
    realm("mail.smtp.password").at_restart(),
    realm("mail.smtp.trust").at_restart(),
    realm("mail.directory").at_restart(),
    realm("brand.name").at_restart(),
    realm("brand.logo").at_restart(),
    realm("brand.favicon").at_restart(),
    realm("brand.accent").at_restart(),
    realm("brand.accent_dark").at_restart(),
    realm("brand.background").at_restart(),
    realm("brand.css").at_restart(),
    realm("brand.terms").at_restart(),
    realm("brand.privacy").at_restart(),
    realm("brand.help").at_restart(),
    realm("brand.texts").at_restart(),
    realm("brand.clients").at_restart(),
    realm("keys.algorithms").at_restart(),
    realm("keys.access_token"),
    realm("keys.id_token"),
    realm("keys.compact").at_restart(),
    realm("keys.rotate_after").at_restart(),
    realm("keys.publish_ahead").at_restart(),
    realm("lifetimes.code"),
    realm("lifetimes.access_token"),
    realm("lifetimes.id_token"),
    realm("lifetimes.refresh_token"),
    realm("lifetimes.refresh_idle"),
    realm("lifetimes.pushed_request"),
    realm("lifetimes.device_code"),
    realm("lifetimes.interaction"),
    realm("lifetimes.session_idle"),
    realm("lifetimes.session"),
    realm("lifetimes.one_time_code"),
    realm("lifetimes.invitation"),
    realm("lifetimes.deletion_grace"),
    realm("lifetimes.provider_groups"),
    realm("protocol.default_audience"),
    realm("protocol.required_acr"),
    realm("protocol.require_pushed_authorization_requests"),
    realm("protocol.local_login"),
    realm("protocol.self_deletion"),
    realm("protocol.require_dpop_nonce"),
    realm("protocol.dpop_proof_max_age"),
    realm("protocol.device_poll_interval"),
    realm("protocol.refresh_retry_window"),
    realm("protocol.clock_leeway"),
    realm("registration.enabled"),
    realm("registration.open"),
    realm("registration.require_pkce"),
    realm("registration.default_scope"),
    realm("registration.grant_types"),
    realm("registration.ml_dsa"),
    realm("registration.token_endpoint_assertion_audience"),
    realm("agents.enabled"),
    realm("agents.roots"),
    realm("agents.constraints"),
    realm("passkeys.enabled"),
    realm("passkeys.user_verification"),
    realm("passkeys.related_origins"),
    realm("passkeys.allowed_aaguids"),
    realm("sign_up.enabled"),
    realm("sign_up.domains"),
    realm("sign_up.denied_domains"),
    realm("sign_up.terms_url"),
    realm("sign_up.terms_version"),
    process("cluster.listen"),
    process("cluster.advertise"),
    process("cluster.url"),
    process("cluster.zone"),
    process("cluster.topology"),
    process("cluster.hub"),
    process("cluster.peers"),
    process("cluster.staleness").from(1),
    process("outbound.trust"),
    process("outbound.allow_private_addresses"),
    process("outbound.allow_loopback"),
    process("limits.connections"),
    process("limits.connections_per_address"),
    process("limits.handshake_timeout"),
    process("limits.head_timeout"),
    process("limits.body_timeout"),
    process("limits.body_bytes"),
    process("limits.shutdown_grace"),
    process("limits.threads"),
    process("limits.password_threads"),
    process("limits.password_queue"),
    realm("login_limits.window").at_restart().from(1),
    realm("login_limits.per_account").at_restart().from(1),
    realm("login_limits.per_device").at_restart().from(1),
    realm("login_limits.per_address").at_restart().from(1),
    realm("login_limits.codes_per_day").at_restart().from(1),
    realm("login_limits.mails").at_restart().from(1),
    realm("passwords.min_length").at_restart().from(MIN_PASSWORD_CHARS as u64).to(LONGEST_MINIMUM as u64),
    realm("passwords.min_length_administrators").at_restart().from(MIN_PASSWORD_CHARS as u64).to(LONGEST_MINIMUM as u64),
    process("log.level").at_reload(),
    process("log.requests").at_reload(),
    process("log.format"),
    process("log.per_second").at_reload().from(1).to(100_000),
    process("audit.enabled"),
    process("audit.node"),
    process("audit.directory"),
    process("audit.segment_bytes").from(64 * KIB).to(256 * MIB),
    process("audit.segment_age").from(MINUTE).to(366 * DAY),
    process("audit.archive_directory"),
    process("audit.keep_for").from(MINUTE),
    process("audit.keep_bytes").from(128 * KIB),
    process("audit.interval_ms").from(10).to(10_000),
    process("audit.refusals_per_second").from(1).to(10_000),
    realm("administration.reason"),
    process("metrics.open"),
    process("telemetry.otlp_endpoint"),
    process("telemetry.otlp_headers"),
    process("telemetry.ca_file"),
    process("telemetry.traces"),
    process("telemetry.metrics"),
    process("telemetry.logs"),
    process("telemetry.sample"),
    process("telemetry.sample_per_second").from(0).to(10_000),
    process("telemetry.parents"),
    process("telemetry.propagate"),
    process("telemetry.metrics_interval").from(1).to(60 * MINUTE),
    realm("access.default"),
    realm("clients"),
    realm("users").at_restart(),
    realm("resources"),
    realm("scopes"),
    realm("attributes"),
    realm("roles"),
    realm("step_up"),
    realm("groups"),
    realm("rules"),
    realm("providers"),
    process("realms").at_reload(),
];

/// The row of a setting, or of the list that a member belongs to.
pub fn row(path: &str) -> Option<&'static Setting> {
    let of = |row: &&Setting| {
        let rest = path.strip_prefix(row.path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    SETTINGS.iter().find(of)
}

/// Names every number that is out of its range. The protocol's are checked by the rules.
pub(crate) fn ranges(config: &Config, faults: &mut Faults) {
    let values = values(config);
    for setting in SETTINGS {
        let Some(range) = setting.range else { continue };
        let value = value(&values, setting.path);
        let duration = value.as_str().and_then(|text| Duration::parse(text).ok());
        let Some(number) = duration.map(|length| length.0).or(value.as_u64()) else {
            continue;
        };
        if !range.holds(number) {
            let form = Form::of(duration.is_some());
            let (range, number) = (range.text(form), form.text(number));
            faults.add(setting.path, format!("must be {range}, not {number}"));
        }
    }
}

/// The settings whose change waits for a restart, and that are not the same in both.
pub fn changed_until_restart(old: &Config, new: &Config) -> Vec<&'static str> {
    let (old, new) = (values(old), values(new));
    let rows = SETTINGS.iter();
    rows.filter(|row| row.takes_effect == TakesEffect::Restart)
        .map(|row| row.path)
        .filter(|path| value(&old, path) != value(&new, path))
        .collect()
}

/// A configuration as JSON, with references in place of secrets.
pub fn values(config: &Config) -> Value {
    // Invariant: texts, numbers, lists and maps with names as keys serialize.
    serde_json::to_value(config).unwrap_or_default()
}

/// The values of a file that says nothing but what it must.
pub fn defaults() -> Value {
    let least = serde_json::json!({ "issuer": "https://id.invalid", "listeners": [] });
    let least: Option<Config> = serde_json::from_value(least).ok();
    // Invariant: nothing else has to be there (a test reads it).
    least.as_ref().map(values).unwrap_or_default()
}

/// A setting's value of [`values()`]; null where it is not set.
pub fn value<'v>(values: &'v Value, path: &str) -> &'v Value {
    path.split('.').fold(values, |table, member| &table[member])
}

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As one.
    Number,
    /// As a length of time: "10m".
    Duration,
}

impl Form {
    /// Of a length of time, or not.
    pub fn of(is_duration: bool) -> Form {
        match is_duration {
            true => Form::Duration,
            false => Form::Number,
        }
    }

    fn text(self, number: u64) -> String {
        match self {
            Form::Number => number.to_string(),
            Form::Duration => Duration(number).to_string(),
        }
    }
}

impl Range {
    fn holds(self, number: u64) -> bool {
        let within = number >= self.least && self.most.is_none_or(|most| number <= most);
        within || (self.or_zero && number == 0)
    }

    /// "from 5s to 10m", "0, or from 1 to 9", "1 or more".
    pub fn text(self, form: Form) -> String {
        let least = form.text(self.least);
        let text = match self.most {
            Some(most) => format!("from {least} to {}", form.text(most)),
            None => format!("{least} or more"),
        };
        match self.or_zero {
            true => format!("0, or {text}"),
            false => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explain::leaves;

    /// What the file can say and no row names would have no owner, and no reload would say that it
    /// waits.
    #[test]
    fn every_setting_of_the_file_has_one_row() {
        let of_types: BTreeSet<String> = leaves().into_iter().collect();
        let rows: Vec<&str> = SETTINGS.iter().map(|row| row.path).collect();
        let of_rows: BTreeSet<String> = rows.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(of_rows, of_types);
        assert_eq!(rows.len(), of_rows.len(), "a row stands there twice");
    }

    #[test]
    fn there_are_defaults() {
        assert!(value(&defaults(), "lifetimes.code").is_string());
    }

    #[test]
    fn the_rules_and_the_table_bound_no_setting_twice() {
        for bound in &BOUNDS {
            let row = row(bound.path).expect(bound.path);
            assert_eq!(row.path, bound.path);
            assert_eq!(row.range, None, "{}", bound.path);
        }
    }

    /// A default that its own range refuses would be found by the first who writes it down.
    #[test]
    fn defaults_are_within_their_ranges() {
        let config = "issuer = \"https://id.example\"\nlisteners = []\n[cluster]\nlisten = \"127.0.0.1:1\"\n";
        let mut faults = Faults::default();
        ranges(&toml::from_str(config).expect("a file"), &mut faults);
        assert_eq!(faults.0, []);
    }

    #[test]
    fn a_number_out_of_its_range_is_named_with_what_it_may_be() {
        let config = "issuer = \"https://id.example\"\nlisteners = []\n[audit]\nsegment_age = \"1s\"\n[log]\nper_second = 0\n[store]\nreserve_bytes = 7\n[login_limits]\nmails = 0\n";
        let mut faults = Faults::default();
        ranges(&toml::from_str(config).expect("a file"), &mut faults);
        let said: Vec<String> = faults
            .0
            .iter()
            .map(|f| format!("{}: {}", f.path, f.message))
            .collect();
        assert_eq!(
            said,
            [
                "store.reserve_bytes: must be 0, or from 1048576 to 1073741824, not 7",
                "login_limits.mails: must be 1 or more, not 0",
                "log.per_second: must be from 1 to 100000, not 0",
                "audit.segment_age: must be from 1m to 366d, not 1s",
            ]
        );
    }

    #[test]
    fn what_waits_for_a_restart_is_named_and_nothing_else() {
        let file = |text: &str| -> Config {
            toml::from_str(&format!(
                "issuer = \"https://id.example\"\nlisteners = []\n{text}"
            ))
            .expect("a file")
        };
        let old = file("");
        let new = file(
            "data_dir = \"/x\"\nusers = [{ username = \"ada\" }]\n[lifetimes]\ncode = 30\n[log]\nlevel = \"debug\"\nformat = \"json\"\n[limits]\nbody_timeout = \"3s\"\n",
        );
        assert_eq!(changed_until_restart(&old, &old), Vec::<&str>::new());
        assert_eq!(
            changed_until_restart(&old, &new),
            ["data_dir", "limits.body_timeout", "log.format", "users"]
        );
    }
}
