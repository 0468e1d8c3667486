//! `signet serve`: the arguments, and which configuration they stand for.

use std::{net::SocketAddr, net::ToSocketAddrs, path::PathBuf};

use clap::Args;
use signet_cluster::join::Token;
use signet_crypto::Secret;

use super::{Failure, Output, config::refusal};
use crate::dev;
use crate::serve;
use signet_config::{model::ListenAddress, read};
use signet_store::StoreUrl;
use signet_terminal::input;

/// `signet serve ...`
#[derive(Debug, Args)]
pub struct Serve {
    /// The TOML configuration file; with --dev, what it says is laid over what development mode
    /// sets, at the start.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Development mode: makes everything it needs, serves on loopback.
    #[arg(long)]
    dev: bool,
    /// Where to listen [--dev: 127.0.0.1:8443; --config: instead of the first listener's address].
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// The data directory [--dev: .signet].
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The store: sqlite, or postgres://USER@HOST:PORT/DATABASE[,HOST2...], without a password
    /// [--dev: sqlite in the data directory; --config: instead of the file's].
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The issuer [--dev: https://localhost:PORT].
    #[arg(long, value_name = "URL")]
    issuer: Option<String>,
    /// PEM file of further certificates that outbound calls trust.
    #[arg(long, value_name = "FILE")]
    trust: Option<PathBuf>,
    /// Become a node of the cluster that made this token (`signet node invite`); - reads it from
    /// standard input. A restart needs none [also: SIGNET_JOIN].
    #[arg(long, value_name = "TOKEN")]
    join: Option<String>,
}

/// The token, wherever it comes from. It is a secret for as long as it can be used.
fn token(argument: Option<String>) -> Result<Option<Token>, Failure> {
    let text = match argument {
        Some(text) => Some(Secret::new(input::token(&text)?)),
        None => std::env::var("SIGNET_JOIN").ok().map(Secret::new),
    };
    let text = text.filter(|text| !text.expose().is_empty());
    let token = text.map(|text| Token::parse(text.expose().trim()));
    token
        .transpose()
        .map_err(|e| Failure::unusable(e.to_string()))
}

/// Serves until a signal ends it.
pub fn run(arguments: Serve, _output: &Output) -> Result<(), Failure> {
    if arguments.config.is_none() && !arguments.dev {
        return Err(Failure::unusable(
            "serve what? --dev for a first try, which needs no configuration; --config FILE for a server of your own",
        ));
    }
    let listen = arguments.listen.as_deref().map(address).transpose()?;
    let store = arguments.store.as_deref().map(StoreUrl::parse).transpose();
    let store = store.map_err(Failure::unusable)?;
    let join = token(arguments.join)?;
    let source = match (arguments.dev, arguments.config) {
        (false, Some(file)) => {
            let mut loaded = read::load(&file, true).map_err(|p| refusal(&file, &p).fatal())?;
            let config = &mut loaded.config;
            if let (Some(address), Some(first)) = (listen, config.listeners.first_mut()) {
                first.address = ListenAddress::Socket(address);
            }
            if let Some(directory) = arguments.data_dir {
                config.data_dir = directory;
            }
            if let (Some(store), Some(url)) = (&store, &arguments.store) {
                config.store.name(store, url);
            }
            if let Some(issuer) = arguments.issuer {
                config.issuer = issuer;
            }
            if let Some(trust) = arguments.trust {
                config.outbound.trust = Some(absolute(trust)?);
            }
            serve::Source::File {
                file,
                loaded: Box::new(loaded),
                join,
            }
        }
        (_, file) => {
            let listen = match listen {
                Some(address) => address,
                None => address(dev::DEFAULT_LISTEN)?,
            };
            dev::check_listen(listen).map_err(Failure::unusable)?;
            serve::Source::Dev {
                listen,
                wish: dev::DevOptions {
                    directory: arguments
                        .data_dir
                        .unwrap_or_else(|| dev::DEFAULT_DIR.into()),
                    store,
                    issuer: arguments.issuer,
                    trust: arguments.trust.map(absolute).transpose()?,
                    file,
                },
                join,
            }
        }
    };
    serve::run(source).map_err(Failure::unusable)
}

/// An address, or a name that has one; of several the first IPv4 one, as `localhost` means
/// 127.0.0.1 to most.
pub(super) fn address(text: &str) -> Result<SocketAddr, Failure> {
    let unusable = || Failure::unusable(format!("--listen wants HOST:PORT, not \"{text}\""));
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|_| unusable())?.collect();
    found
        .iter()
        .find(|a| a.is_ipv4())
        .or(found.first())
        .copied()
        .ok_or_else(unusable)
}

fn absolute(path: PathBuf) -> Result<PathBuf, Failure> {
    path.canonicalize()
        .map_err(|e| Failure::unusable(format!("cannot read {}: {e}", path.display())))
}
