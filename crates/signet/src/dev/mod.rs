//! Development mode: everything that a first try needs, made under one directory, and kept there.
//!
//! The order is what makes a crash harmless: the credentials are chosen and written aside
//! (`dev.json.part`) before anything is made from them; `dev.json` appears when the server has
//! answered. A start that finds the file aside goes on with it.

mod account;
mod clients;
mod for_nodes;
mod opened;

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
};

use signet_crypto::seal::Keyring;
use signet_directory::Local;
use signet_encoding::base64url;

use signet_oauth::client::GrantType;

use signet_config::{
    Config,
    model::{self, ListenAddress, ListenProtocol, Listener, SignUp},
    read,
};
use signet_crypto::private_file;
use signet_store::{Store, StoreUrl};

use signet_admin_client::dev_file::read as read_known;
pub use signet_admin_client::dev_file::{
    Account, Clients, Credentials, DEFAULT_DIR, DevFile, DevNode, FILE, read_file,
};

use account::seed_users;
pub use clients::RESOURCE;
use clients::seed_clients;
pub use for_nodes::FOR_NODES;
pub use opened::{node_options, open_store};

use signet_setup::certificate;
pub use signet_setup::certificate::{CA_CERT, CA_KEY};

/// Where the server listens unless told otherwise.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:8443";
/// What helps where the directory cannot be made or written.
pub const OTHER_DIRECTORY: &str = " (--data-dir DIR names another directory)";
/// What the command line of `serve --dev` said.
#[derive(Clone, Debug)]
pub struct DevOptions {
    pub directory: PathBuf,
    /// Where its rows are; None: in the directory.
    pub store: Option<StoreUrl>,
    pub issuer: Option<String>,
    pub trust: Option<PathBuf>,
    /// `--config`: laid over what development mode sets.
    pub file: Option<PathBuf>,
}

impl DevOptions {
    /// Where relative paths of its file start.
    pub fn base(&self) -> &Path {
        let parent = self.file.as_deref().and_then(Path::parent);
        let parent = parent.filter(|parent| !parent.as_os_str().is_empty());
        parent.unwrap_or(Path::new("."))
    }
}

/// What the command line says in development mode, whatever a file has.
const FIXED: &[(&str, &str)] = &[
    ("issuer", "--issuer"),
    ("listeners", "--listen"),
    ("data_dir", "--data-dir"),
    ("store", "--store"),
    ("tls", "development mode itself"),
    ("cluster", "development mode itself"),
];

/// A development server's parts that are not configuration.
pub struct Dev {
    pub file: DevFile,
    /// Was `dev.json` there already?
    finished: bool,
    path: PathBuf,
    /// ` --data-dir DIR` for the commands of this server, unless they find it themselves.
    directory: String,
    /// Where clients with certificates go.
    mtls_url: String,
    /// The CA's certificate, PEM.
    pub ca_pem: Vec<u8>,
}

impl signet_assembly::Development for Dev {
    fn seed<'a>(
        &'a self,
        store: &'a Arc<dyn Store>,
        keyring: &'a Keyring,
        now: u64,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            if self.is_new() {
                seed_users(&Local::new(store.clone()), &self.file, now).await?;
                seed_clients(&**store, keyring, &self.file, now).await?;
            }
            Ok(())
        })
    }

    fn authority(&self) -> &[u8] {
        &self.ca_pem
    }
}

/// Refuses any address but loopback: the passwords lie in a file, and registration is open.
pub fn check_listen(address: SocketAddr) -> Result<(), String> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(format!(
        "--dev listens on loopback only, not on {address}: it opens registration and keeps passwords in a file; \
         use --config for anything else"
    ))
}

/// The issuer for a port, unless one was named.
pub fn issuer(wish: &DevOptions, port: u16) -> String {
    wish.issuer
        .clone()
        .unwrap_or_else(|| format!("https://localhost:{port}"))
}

/// Makes what is not there yet: directory, CA, certificate, credentials. `public`, `mtls`: the
/// bound addresses.
pub fn prepare(
    wish: &DevOptions,
    public: SocketAddr,
    mtls: SocketAddr,
    now: u64,
) -> Result<(Config, Dev), String> {
    let failed = |what: &Path, e: &dyn std::fmt::Display| format!("{}: {e}", what.display());
    private_file::directory(&wish.directory)
        .map_err(|e| format!("{}{OTHER_DIRECTORY}", failed(&wish.directory, &e)))?;
    let directory = wish
        .directory
        .canonicalize()
        .map_err(|e| failed(&wish.directory, &e))?;
    let path = directory.join(FILE);
    let (known, finished) = match read_known(&path)? {
        Some(file) => (Some(file), true),
        None => (read_known(&aside(&path))?, false),
    };
    let node = known.as_ref().and_then(|file| file.node.as_ref());
    // A node's own address is its port's; the issuer stays the installation's.
    let own = format!("https://localhost:{}", public.port());
    let issuer = match node {
        Some(_) => known.as_ref().map(|file| file.issuer.clone()),
        None => None,
    };
    let issuer = issuer.unwrap_or_else(|| self::issuer(wish, public.port()));
    let host = host_of(&issuer).ok_or("--issuer must be an https URL")?;
    let certificate = certificate::ensure(&directory, &host, certificate::For::Development, now)?;
    let mail_dir = match (node, &known) {
        (Some(_), Some(file)) => file.mail_dir.clone(),
        _ => directory.join("mail"),
    };
    private_file::directory(&mail_dir).map_err(|e| failed(&mail_dir, &e))?;

    let mut file = known.unwrap_or_else(|| fresh(&directory, &issuer, &mail_dir));
    let mut moved = file.issuer != issuer;
    // A directory that was moved, or restored elsewhere, says where it is now.
    let ca_cert = directory.join(CA_CERT);
    if (&file.ca_cert, &file.mail_dir) != (&ca_cert, &mail_dir) {
        (file.ca_cert, file.mail_dir) = (ca_cert, mail_dir);
        moved = true;
    }
    if let Some(node) = file.node.as_mut().filter(|node| node.url != own) {
        node.url = own;
        moved = true;
    }
    if file.issuer != issuer {
        // Another port or name than the last time: the file must say where the server is; its
        // secrets stay.
        tracing::warn!(
            was = file.issuer,
            is = issuer,
            "started with a different issuer: earlier tokens are invalid"
        );
        file.issuer.clone_from(&issuer);
    }
    // The public listener's port is in the issuer; the other listener has the same host.
    let mtls_url = format!("https://{host}:{}", mtls.port());
    let dev = Dev {
        file,
        finished,
        path,
        directory: match wish.directory == Path::new(DEFAULT_DIR) {
            true => String::new(),
            false => format!(" --data-dir {}", shown(&directory)),
        },
        mtls_url: mtls_url.clone(),
        ca_pem: certificate.ca_pem,
    };
    if !dev.finished {
        dev.file.write(&aside(&dev.path))?;
    } else if moved {
        dev.file.write(&dev.path)?;
    }
    let config = configuration(wish, &directory, &dev.file, [public, mtls], mtls_url);
    let config = laid_over(config, wish)?;
    if dev.finished {
        // Left over if the last start ended between writing and renaming.
        let _ = std::fs::remove_file(aside(&dev.path));
    }
    Ok((config, dev))
}

impl Dev {
    /// To be called when the server has answered: `dev.json` appears, unless it is there.
    pub fn announce(&mut self) -> Result<(), String> {
        if !self.finished {
            private_file::rename(&aside(&self.path), &self.path)
                .map_err(|e| format!("{}: {e}", self.path.display()))?;
            self.finished = true;
        }
        Ok(())
    }

    /// Is this a directory whose accounts and clients still have to be made?
    pub fn is_new(&self) -> bool {
        !self.finished
    }

    /// What to try next, in ten lines that a terminal of 80 columns shows whole. `program`: how
    /// this command was called. No line has a secret: the output may be a log.
    pub fn greeting(&self, program: &str) -> String {
        let issuer = &self.file.issuer;
        let dir = &self.directory;
        format!(
            "Signet is ready: {issuer}

  a first token        {program} dev token{dir}
  what was made        {program} dev show{dir}
  log in as {user:<10} {issuer}/account   (password: dev show)
  administer           {issuer}/console, {program} client list{dir}
  check tokens         {program} gate --issuer {issuer} --audience {RESOURCE} --ca-cert {ca}
                       for those of: {program} dev token --resource {RESOURCE}{dir}
  with certificates    {mtls}
Mail goes to {mail}. Ctrl-C stops; the next start keeps everything.",
            user = self.file.user.username,
            ca = shown(&self.file.ca_cert),
            mtls = self.mtls_url,
            mail = shown(&self.file.mail_dir),
        )
    }
}

/// The configuration with the file of `--config` over it.
fn laid_over(config: Config, wish: &DevOptions) -> Result<Config, String> {
    let Some(file) = &wish.file else {
        return Ok(config);
    };
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|e| format!("cannot read {shown}: {e}"))?;
    read::over(&config, &text, wish.base(), FIXED).map_err(|problems| {
        let lines = problems.iter().map(|problem| format!("{shown}: {problem}"));
        lines.collect::<Vec<_>>().join("\nsignet: ")
    })
}

/// A path for people and shells: relative to where they are, if that is shorter, and quoted where
/// it has to be.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let text = path
        .strip_prefix(&here)
        .unwrap_or(path)
        .display()
        .to_string();
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+".contains(&b);
    if text.bytes().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Writes aside the `dev.json` of a node that joins: the other node's, with this one's own place.
/// Mail goes where the other's goes, so that whoever waits for it need not know which node sends
/// it. The file appears when the node has answered.
pub fn join(directory: &Path, of_other: &DevFile, node: &DevNode) -> Result<(), String> {
    let directory = directory
        .canonicalize()
        .map_err(|e| format!("{}: {e}", directory.display()))?;
    let file = DevFile {
        ca_cert: directory.join(CA_CERT),
        node: Some(node.clone()),
        ..of_other.clone()
    };
    file.write(&aside(&directory.join(FILE)))
}

fn aside(path: &Path) -> PathBuf {
    path.with_extension("json.pending")
}

fn fresh(directory: &Path, issuer: &str, mail_dir: &Path) -> DevFile {
    let random = || base64url::encode(&signet_crypto::random::bytes::<18>());
    let secret = || Some(base64url::encode(&signet_crypto::random::bytes::<32>()));
    DevFile {
        issuer: issuer.into(),
        ca_cert: directory.join(certificate::CA_CERT),
        admin: Account {
            username: "admin".into(),
            password: random(),
            email: None,
        },
        user: Account {
            username: "alice".into(),
            password: random(),
            email: Some("alice@example.test".into()),
        },
        clients: Clients {
            service: Credentials {
                client_id: "service".into(),
                client_secret: secret(),
                redirect_uris: Vec::new(),
            },
            web: Credentials {
                client_id: "web".into(),
                client_secret: secret(),
                redirect_uris: vec![
                    "http://127.0.0.1/callback".into(),
                    "http://localhost/callback".into(),
                ],
            },
            native: Credentials {
                client_id: "native".into(),
                client_secret: None,
                redirect_uris: vec!["http://127.0.0.1/callback".into()],
            },
        },
        mail_dir: mail_dir.into(),
        admin_client: Some(Credentials {
            client_id: "admin-client".into(),
            client_secret: secret(),
            redirect_uris: Vec::new(),
        }),
        node: None,
    }
}

/// The configuration that `--dev` stands for.
fn configuration(
    wish: &DevOptions,
    directory: &Path,
    file: &DevFile,
    [public, mtls]: [SocketAddr; 2],
    mtls_url: String,
) -> Config {
    let listener = |address, protocol, public_url| Listener {
        address: ListenAddress::Socket(address),
        protocol,
        public_url,
    };
    Config {
        brand: signet_config::brand::Brand::default(),
        issuer: file.issuer.clone(),
        data_dir: directory.into(),
        listeners: vec![
            listener(public, ListenProtocol::Https, None),
            listener(mtls, ListenProtocol::Mtls, Some(mtls_url)),
        ],
        tls: Some(model::Tls {
            certificate: directory.join(certificate::SERVER_CERT),
            key: directory.join(certificate::SERVER_KEY),
            client_ca: Some(directory.join(certificate::CA_CERT)),
            tls12: false,
        }),
        proxy: None,
        store: model::Store::default(),
        mail: Some(model::Mail {
            from: "Signet <no-reply@example.test>".into(),
            smtp: None,
            directory: Some(file.mail_dir.clone()),
        }),
        keys: model::Keys::default(),
        lifetimes: model::Lifetimes::default(),
        protocol: model::Protocol {
            self_deletion: true,
            ..Default::default()
        },
        passkeys: Default::default(),
        sign_up: SignUp {
            enabled: true,
            ..SignUp::default()
        },
        registration: model::Registration {
            enabled: true,
            open: true,
            // A developer's client may try everything.
            grant_types: GrantType::ALL
                .iter()
                .map(|grant| grant.as_str().to_owned())
                .collect(),
            ml_dsa: true,
            ..Default::default()
        },
        agents: model::Agents {
            enabled: true,
            ..Default::default()
        },
        access: model::Access::default(),
        rules: Vec::new(),
        providers: Vec::new(),
        realms: Vec::new(),
        node: None,
        cluster: None,
        outbound: model::Outbound {
            trust: wish.trust.clone(),
            allow_private_addresses: false,
            allow_loopback: true,
        },
        limits: model::Limits::default(),
        // Everybody here comes from one address, and a test suite registers clients and mails codes
        // by the hundred. What is counted per account stays as it is.
        login_limits: model::LoginLimits {
            per_address: 10_000,
            mails: 1_000,
            ..Default::default()
        },
        passwords: model::Passwords::default(),
        log: log(),
        audit: Default::default(),
        administration: Default::default(),
        metrics: model::Metrics::default(),
        telemetry: model::Telemetry::default(),
        clients: Vec::new(),
        users: Vec::new(),
        resources: Vec::new(),
        scopes: Vec::new(),
        attributes: Vec::new(),
        roles: Vec::new(),
        step_up: Vec::new(),
        groups: Vec::new(),
    }
}

/// What development mode logs: the lives of twenty keys, each with its long name, concern nobody at
/// a first start.
pub fn log() -> model::Log {
    model::Log {
        level: Some("info,signet_registry::keys=warn".into()),
        ..Default::default()
    }
}

/// The host of an https URL, without port; brackets of an IPv6 address kept off.
fn host_of(issuer: &str) -> Option<String> {
    let rest = issuer.strip_prefix("https://")?;
    let authority = rest.split('/').next()?;
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split_once(']')?.0,
        None => authority
            .rsplit_once(':')
            .map_or(authority, |(host, _)| host),
    };
    let good = host.parse::<IpAddr>().is_ok()
        || (!host.is_empty()
            && host
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b)));
    good.then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_listened_on() {
        for good in ["127.0.0.1:8443", "127.8.8.8:1", "[::1]:8443"] {
            assert!(check_listen(good.parse().unwrap()).is_ok(), "{good}");
        }
        for bad in [
            "0.0.0.0:8443",
            "[::]:8443",
            "192.0.2.1:8443",
            "[::ffff:10.0.0.1]:1",
        ] {
            assert!(check_listen(bad.parse().unwrap()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_second_start_keeps_everything_and_a_broken_first_one_is_continued() {
        let dir = tempfile::tempdir().unwrap();
        let wish = DevOptions {
            directory: dir.path().join("d"),
            store: None,
            issuer: None,
            trust: None,
            file: None,
        };
        let (a, b): (SocketAddr, SocketAddr) = (
            "127.0.0.1:8443".parse().unwrap(),
            "127.0.0.1:9443".parse().unwrap(),
        );
        let now = 1_800_000_000;
        let (_, first) = prepare(&wish, a, b, now).unwrap();
        assert!(
            !wish.directory.join(FILE).exists(),
            "not before the server answers"
        );
        drop(first);
        let (_, mut again) = prepare(&wish, a, b, now).unwrap();
        assert!(again.is_new());
        again.announce().unwrap();
        let text = std::fs::read(wish.directory.join(FILE)).unwrap();
        assert!(!private_file::is_open_to_others(&wish.directory.join(FILE)).unwrap());
        let ca = std::fs::read(wish.directory.join("ca.pem")).unwrap();
        let (config, mut third) = prepare(&wish, a, b, now).unwrap();
        third.announce().unwrap();
        assert!(!third.is_new());
        assert_eq!(third.file, again.file);
        assert_eq!(std::fs::read(wish.directory.join(FILE)).unwrap(), text);
        assert_eq!(std::fs::read(wish.directory.join("ca.pem")).unwrap(), ca);
        let faults = signet_config::check::check(&config, Path::new("."), true);
        assert_eq!(faults, [], "the development configuration is a good one");

        let elsewhere = dir.path().join("elsewhere");
        std::fs::rename(&wish.directory, &elsewhere).unwrap();
        let wish = DevOptions {
            directory: elsewhere.clone(),
            ..wish
        };
        let (_, moved) = prepare(&wish, a, b, now).unwrap();
        let elsewhere = elsewhere.canonicalize().unwrap();
        let expected = DevFile {
            ca_cert: elsewhere.join(CA_CERT),
            mail_dir: elsewhere.join("mail"),
            ..again.file.clone()
        };
        assert_eq!(moved.file, expected, "it says where it is");
        assert_eq!(read_file(&elsewhere).unwrap(), expected);
    }

    #[test]
    fn the_issuers_host_is_found() {
        assert_eq!(
            host_of("https://localhost:8443").as_deref(),
            Some("localhost")
        );
        assert_eq!(
            host_of("https://id.example/t").as_deref(),
            Some("id.example")
        );
        assert_eq!(host_of("https://[::1]:8443").as_deref(), Some("::1"));
        for bad in ["http://localhost", "https://", "https://a b"] {
            assert_eq!(host_of(bad), None, "{bad}");
        }
    }
}
