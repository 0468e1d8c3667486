//! What a well-formed configuration must still mean: references that resolve, listeners that can be
//! served, no doubles.

use std::{collections::HashSet, path::Path};

use http::Uri;
use signet_audit::NodeId;
use signet_crypto::password::MAX_PASSWORD_BYTES;

use signet_directory::{PasswordOf, PasswordRefused, Profile, folded_email, folded_username};
use signet_oauth::{
    command_line,
    registry::{RealmEntry, Registry},
    scope,
};
use signet_store::{postgres::Address, sqlite::DATABASE_FILE};

use super::{
    apply, clients,
    fault::{Fault, Faults, Seal, nearest},
    model::{self, Config, ListenAddress, ListenProtocol, SmtpSecurity, StoreEngine},
    people, providers, realms, rules, settings,
};

/// What is probably not meant, and may be right: scopes that the file uses and does not define,
/// which may have been made by the admin API; passwords that no new account may have, of people who
/// may exist; a proxy that is known by its address alone. `secrets`: also read the passwords.
pub fn notes(config: &Config, base: &Path, secrets: bool) -> Vec<Fault> {
    let standard = Registry::standard_scopes();
    let known: Vec<&str> = standard
        .iter()
        .map(|scope| scope.name.as_str())
        .chain(scope::PRIVILEGED)
        .chain(config.scopes.iter().map(|scope| scope.name.as_str()))
        .collect();
    let clients = config.clients.iter().enumerate();
    let clients = clients.map(|(i, client)| {
        let scope = client.members.get("scope").map_or_else(Vec::new, words);
        (format!("clients[{i}].scope"), scope)
    });
    let resources = config.resources.iter().enumerate();
    let resources = resources.map(|(i, one)| {
        let scopes = one.scopes.iter().map(String::as_str).collect();
        (format!("resources[{i}].scopes"), scopes)
    });
    let mut notes = Vec::new();
    if let Some(proxy) = &config.proxy
        && proxy.client_certificate_header.is_some()
        && proxy.secret_file.is_none()
    {
        notes.push(Fault {
            path: "proxy.client_certificate_header".to_owned(),
            message: CERTIFICATES_BY_ADDRESS.to_owned(),
        });
    }
    if secrets && !all_users_are_new(config) {
        let mut refused = Faults::default();
        new_passwords(config, base, &mut refused);
        notes.extend(refused.0.into_iter().map(|mut fault| {
            fault
                .message
                .push_str(" The account is not made, unless it exists already.");
            fault
        }));
    }
    for (path, names) in clients.chain(resources) {
        for name in names.into_iter().filter(|name| !known.contains(name)) {
            let mut message = format!("this file defines no scope \"{name}\"");
            if let Some(near) = nearest(name, known.iter().copied()) {
                message.push_str(&format!("; did you mean \"{near}\"?"));
            }
            notes.push(Fault {
                path: path.clone(),
                message,
            });
        }
    }
    notes
}

/// What a proxy without a secret means for certificates.
pub const CERTIFICATES_BY_ADDRESS: &str = "any program at the addresses of proxy.trusted can present any client certificate at an http listener: set proxy.secret_file";

/// Whether there is no database yet, so that everybody of `[[users]]` is to be made.
fn all_users_are_new(config: &Config) -> bool {
    let database = config.store_directory().join(DATABASE_FILE);
    config.store.engine == StoreEngine::Sqlite && !database.exists()
}

/// Names the people whose password no new account may have.
fn new_passwords(config: &Config, base: &Path, faults: &mut Faults) {
    for (i, user) in config.users.iter().enumerate() {
        let password = user.password.as_ref().map(|reference| reference.read(base));
        if let Some(Ok(password)) = password
            && let Err(refused) = new_password(config, user, password.expose())
        {
            faults.add(format!("users[{i}].password"), refused.to_string());
        }
    }
}

/// Whether a new account of this person may have this password: the rules of every other way to
/// make one.
///
/// # Errors
/// Which rule it breaks.
pub fn new_password(
    config: &Config,
    user: &model::User,
    password: &str,
) -> Result<(), PasswordRefused> {
    let issuer = config.issuer.parse::<Uri>().ok();
    let profile = Profile {
        name: user.name.clone().or_else(|| user.profile.name.clone()),
        ..user.profile.clone()
    };
    let of = PasswordOf::new(&user.username, user.email.as_deref(), &profile, user.admin);
    let of = of.at(issuer.as_ref().and_then(Uri::host));
    apply::password_policy(config).check(password, &of)
}

/// Scopes, as a list or as the words of one text.
fn words(value: &toml::Value) -> Vec<&str> {
    let texts = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    texts
        .iter()
        .filter_map(toml::Value::as_str)
        .flat_map(str::split_whitespace)
        .collect()
}

fn segments(audit: &model::Audit, faults: &mut Faults) {
    if let Some(Err(invalid)) = audit.node.as_deref().map(NodeId::parse) {
        faults.add("audit.node", invalid.to_string());
    }
}

fn store(config: &Config, base: &Path, secrets: bool, faults: &mut Faults) {
    let store = &config.store;
    match (store.engine, &store.url) {
        (StoreEngine::Postgres, None) => {
            faults.add("store.url", "is needed: postgres://USER@HOST:PORT/DATABASE");
        }
        (StoreEngine::Sqlite, Some(_)) => {
            faults.add("store.url", "is for engine = \"postgres\"");
        }
        (StoreEngine::Postgres, Some(url)) => {
            if let Err(invalid) = Address::parse(url) {
                faults.add("store.url", invalid.to_string());
            }
        }
        (StoreEngine::Sqlite, None) => {}
    }
    match &store.password {
        Some(_) if store.engine == StoreEngine::Sqlite => {
            faults.add("store.password", "is for engine = \"postgres\"");
        }
        Some(reference) if secrets => {
            if let Err(unreadable) = reference.read(base) {
                faults.add("store.password", unreadable);
            }
        }
        Some(_) | None => {}
    }
}

/// Everything that is wrong with the record of a realm, with what its settings mean together.
/// `secrets`: also read the secrets that they refer to.
///
/// # Errors
/// One sentence for each place.
pub fn of_realm(
    config: &Config,
    base: &Path,
    entry: &RealmEntry,
    secrets: bool,
) -> Result<(), Vec<String>> {
    let config = realms::of_realm(config, entry)?;
    let faults = check(&config, base, secrets);
    let is_own = |path: &str| {
        let whose = settings::row(path);
        whose.is_none_or(|row| row.owner == settings::Owner::Realm)
    };
    let faults = faults.into_iter().filter(|fault| is_own(&fault.path));
    let wrong: Vec<String> = faults
        .map(|fault| format!("{}: {}", fault.path, fault.message))
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong),
    }
}

/// Everything that is wrong with the realms that the file declares.
pub(crate) fn realms(config: &Config, base: &Path, secrets: bool, faults: &mut Faults) {
    let of_process = faults.0.iter();
    let of_process: Vec<String> = of_process
        .map(|fault| format!("{}: {}", fault.path, fault.message))
        .collect();
    realms::declared(config, faults);
    let mut issuers = vec![config.issuer.clone()];
    for (i, realm) in config.realms.iter().enumerate() {
        let entry = realms::entry(config, realm);
        let wrong = of_realm(config, base, &entry, secrets).err();
        for why in wrong.into_iter().flatten() {
            // What it has of the process is named there.
            if !of_process.contains(&why) {
                faults.add(format!("realms[{i}].settings"), why);
            }
        }
        if issuers.contains(&entry.issuer) {
            faults.add(
                format!("realms[{i}].issuer"),
                format!("another realm has the issuer {}", entry.issuer),
            );
        }
        issuers.push(entry.issuer);
    }
}

/// Every fault of a configuration. `secrets`: also read the secrets it refers to.
pub fn check(config: &Config, base: &Path, secrets: bool) -> Vec<Fault> {
    let mut faults = Faults::default();
    let protocol = apply::settings(config, &mut faults);
    listeners(config, &mut faults);
    cluster(config, &mut faults);
    settings::ranges(config, &mut faults);
    store(config, base, secrets, &mut faults);
    segments(&config.audit, &mut faults);
    files(config, base, secrets, &mut faults);
    mail(config, base, secrets, &mut faults);
    telemetry(config, base, secrets, &mut faults);
    if let Err((member, message)) = config.brand.read(base) {
        faults.add(format!("brand.{member}"), message);
    }

    doubles(
        config.clients.iter().map(|c| c.client_id.as_str()),
        "clients",
        "client_id",
        &mut faults,
    );
    doubles(
        config.users.iter().map(|u| u.username.as_str()),
        "users",
        "username",
        &mut faults,
    );
    doubles(
        config.resources.iter().map(|r| r.identifier.as_str()),
        "resources",
        "identifier",
        &mut faults,
    );
    doubles(
        config.scopes.iter().map(|s| s.name.as_str()),
        "scopes",
        "name",
        &mut faults,
    );

    doubles(
        config.groups.iter().map(|g| g.name.as_str()),
        "groups",
        "name",
        &mut faults,
    );
    doubles(
        config.attributes.iter().map(|a| a.name.as_str()),
        "attributes",
        "name",
        &mut faults,
    );
    people::people(config, &mut faults);
    rules::rules(config, &mut faults);
    providers::check(config, base, secrets, &mut faults);
    doubles(
        config.realms.iter().map(|r| r.name.as_str()),
        "realms",
        "name",
        &mut faults,
    );
    for (i, entry) in config.scopes.iter().enumerate() {
        apply::scope(entry, &format!("scopes[{i}]"), &mut faults);
    }

    let seal: Seal<'_> = &|_, secret| Some(secret.to_vec());
    for (i, entry) in config.clients.iter().enumerate() {
        let path = format!("clients[{i}]");
        if entry.client_id == command_line::CLIENT_ID {
            faults.add(
                format!("{path}.client_id"),
                "every server has this client, and the commands log in by it: `signet client set signet-cli ...` changes it",
            );
        }
        if let Some(client) =
            clients::client(entry, &path, base, secrets.then_some(seal), &mut faults)
        {
            clients::check(entry, &client, &protocol, &path, &mut faults);
        }
    }
    for (i, entry) in config.resources.iter().enumerate() {
        apply::resource(entry, &format!("resources[{i}]"), &mut faults);
    }
    for (i, user) in config.users.iter().enumerate() {
        if let Err(e) = folded_username(&user.username) {
            faults.add(format!("users[{i}].username"), e.to_string());
        }
        if let Some(Err(e)) = user.email.as_deref().map(folded_email) {
            faults.add(format!("users[{i}].email"), e.to_string());
        }
        if let Some(password) = user.password.as_ref().filter(|_| secrets) {
            let here = format!("users[{i}].password");
            match password.read(base) {
                Err(message) => faults.add(here, message),
                Ok(p) if p.expose().len() > MAX_PASSWORD_BYTES => {
                    faults.add(
                        here,
                        format!("a password has at most {MAX_PASSWORD_BYTES} bytes"),
                    );
                }
                Ok(_) => {}
            }
        }
    }
    if secrets && all_users_are_new(config) {
        new_passwords(config, base, &mut faults);
    }
    if let Some(level) = &config.log.level
        && let Err(e) = tracing_subscriber::EnvFilter::try_new(level)
    {
        faults.add("log.level", format!("not a level or filter: {e}"));
    }
    realms(config, base, secrets, &mut faults);
    faults.0
}

fn cluster(config: &Config, faults: &mut Faults) {
    let Some(cluster) = &config.cluster else {
        return;
    };
    if let Some(Err(error)) = config.node.as_deref().map(NodeId::parse) {
        faults.add("node", error.to_string());
    }
    if cluster.listen.ip().is_unspecified() && cluster.advertise.is_empty() {
        faults.add(
            "cluster.advertise",
            "is needed where cluster.listen is an address of all interfaces",
        );
    }
    let addresses = [("advertise", &cluster.advertise), ("peers", &cluster.peers)];
    for (member, list) in addresses {
        for (i, address) in list.iter().enumerate() {
            let port = address.rsplit_once(':').filter(|(host, port)| {
                !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port != 0)
            });
            if port.is_none() {
                faults.add(
                    format!("cluster.{member}[{i}]"),
                    "must be a host name or an address, with a port: \"node-1.internal:7443\"",
                );
            }
        }
    }
    if let Some(url) = &cluster.url
        && !(url.len() > "https://".len() && url.starts_with("https://") && !url.ends_with('/'))
    {
        faults.add(
            "cluster.url",
            "must be an https URL without a slash at its end",
        );
    }
    if cluster.hub && cluster.topology == model::Topology::Mesh {
        faults.add("cluster.hub", "goes with topology = \"hubs\"");
    }
}

fn listeners(config: &Config, faults: &mut Faults) {
    if !config
        .listeners
        .iter()
        .any(|l| l.protocol != ListenProtocol::Mtls)
    {
        faults.add(
            "listeners",
            "there must be a listener with protocol = \"https\" or \"http\"",
        );
    }
    let mut seen = Vec::new();
    for (i, listener) in config.listeners.iter().enumerate() {
        let here = format!("listeners[{i}]");
        if seen.contains(&listener.address) {
            faults.add(format!("{here}.address"), "two listeners have this address");
        }
        seen.push(listener.address);
        match listener.protocol {
            ListenProtocol::Http => {
                let local =
                    matches!(listener.address, ListenAddress::Socket(a) if a.ip().is_loopback());
                if !local && config.proxy.is_none() {
                    faults.add(
                        format!("{here}.protocol"),
                        "plain HTTP beyond loopback needs [proxy]: tokens must not cross a network in the clear",
                    );
                }
            }
            ListenProtocol::Https | ListenProtocol::Mtls if config.tls.is_none() => {
                faults.add(
                    format!("{here}.protocol"),
                    "https and mtls listeners need [tls]",
                );
            }
            ListenProtocol::Mtls if listener.public_url.is_none() => {
                faults.add(
                    here,
                    "an mtls listener needs public_url: it goes into mtls_endpoint_aliases",
                );
            }
            ListenProtocol::Https | ListenProtocol::Mtls => {}
        }
        if listener.public_url.is_some() && listener.protocol != ListenProtocol::Mtls {
            faults.add(
                format!("listeners[{i}].public_url"),
                "only mtls listeners have a public_url; the others are reached under the issuer",
            );
        }
    }
    if let Some(proxy) = &config.proxy
        && proxy.client_certificate_url.is_some()
        && proxy.client_certificate_header.is_none()
    {
        faults.add(
            "proxy.client_certificate_url",
            "needs client_certificate_header: how else would a certificate get here?",
        );
    }
    if let Some(proxy) = &config.proxy
        && proxy.trusted.is_empty()
    {
        faults.add(
            "proxy.trusted",
            "names no proxy: leave [proxy] out, or say which addresses to believe",
        );
    }
}

fn files(config: &Config, base: &Path, secrets: bool, faults: &mut Faults) {
    let mut readable = |path: &str, file: &Path| {
        let file = base.join(file);
        if let Err(e) = std::fs::File::open(&file) {
            faults.add(path, format!("cannot read {}: {e}", file.display()));
        }
    };
    if let Some(tls) = &config.tls {
        readable("tls.certificate", &tls.certificate);
        if secrets {
            readable("tls.key", &tls.key);
        }
        if let Some(ca) = &tls.client_ca {
            readable("tls.client_ca", ca);
        }
    }
    if let Some(trust) = config
        .mail
        .as_ref()
        .and_then(|m| m.smtp.as_ref()?.trust.as_ref())
    {
        readable("mail.smtp.trust", trust);
    }
    if let Some(trust) = &config.outbound.trust {
        readable("outbound.trust", trust);
    }
    if let Some(file) = &config.telemetry.ca_file {
        readable("telemetry.ca_file", file);
    }
    let secret = config.proxy.as_ref().and_then(|p| p.secret_file.as_ref());
    if let Some(file) = secret.filter(|_| secrets) {
        readable("proxy.secret_file", file);
    }
}

fn telemetry(config: &Config, base: &Path, secrets: bool, faults: &mut Faults) {
    let telemetry = &config.telemetry;
    if !(0.0..=1.0).contains(&telemetry.sample) {
        faults.add("telemetry.sample", "must be from 0 to 1");
    }
    if let Some(endpoint) = &telemetry.otlp_endpoint
        && let Err(why) = crate::telemetry::endpoint(endpoint)
    {
        faults.add("telemetry.otlp_endpoint", why);
    }
    if let Some(headers) = telemetry.otlp_headers.as_ref().filter(|_| secrets)
        && let Err(why) = crate::telemetry::headers(headers, base)
    {
        faults.add("telemetry.otlp_headers", why);
    }
}

fn mail(config: &Config, base: &Path, secrets: bool, faults: &mut Faults) {
    let Some(mail) = &config.mail else { return };
    if mail.smtp.is_some() == mail.directory.is_some() {
        faults.add("mail", "needs one of smtp and directory");
    }
    let Some(smtp) = &mail.smtp else { return };
    if smtp.username.is_some() != smtp.password.is_some() {
        faults.add("mail.smtp", "username and password go together");
    }
    if smtp.security == SmtpSecurity::Plain && smtp.password.is_some() {
        faults.add(
            "mail.smtp.security",
            "a password is never sent over a connection without TLS",
        );
    }
    if let Some(password) = smtp.password.as_ref().filter(|_| secrets)
        && let Err(message) = password.read(base)
    {
        faults.add("mail.smtp.password", message);
    }
}

fn doubles<'a>(
    names: impl Iterator<Item = &'a str>,
    list: &str,
    member: &str,
    faults: &mut Faults,
) {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        if !seen.insert(name) {
            faults.add(
                format!("{list}[{i}].{member}"),
                format!("\"{name}\" appears twice"),
            );
        }
    }
}
