//! The arguments of `signet setup`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

/// `signet setup ...`
#[derive(Debug, Args)]
pub struct Setup {
    /// The URL that clients know the server by [default: https://localhost:8443].
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
    /// The directory that signet.toml is written into.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// The directory of the database and the keys [default: data, in the directory of the file].
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where the server listens [default: the issuer's port, at all addresses; on loopback for a
    /// local issuer and behind a proxy].
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// Make a certificate for the issuer's host [default].
    #[arg(long, conflicts_with_all = ["certificate", "behind_proxy"])]
    pub(crate) self_made: bool,
    /// PEM file of the certificate's chain, leaf first.
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        conflicts_with = "behind_proxy"
    )]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM file of the certificate's key.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// A reverse proxy at this address has the certificate; repeatable.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) behind_proxy: Vec<IpAddr>,
    /// The sender of mails: "Example Login <login@example.com>".
    #[arg(long, value_name = "SENDER")]
    pub(crate) mail_from: Option<String>,
    /// The SMTP server, which speaks TLS at port 465; none: no mail.
    #[arg(long, value_name = "HOST")]
    pub(crate) smtp: Option<String>,
    /// The user name at the SMTP server.
    #[arg(long, value_name = "NAME", requires = "smtp")]
    pub(crate) smtp_user: Option<String>,
    /// The file with the password at the SMTP server; the configuration refers to it.
    #[arg(long, value_name = "FILE", requires = "smtp_user")]
    pub(crate) smtp_password_file: Option<PathBuf>,
    /// Write mails into this directory instead of sending them.
    #[arg(long, value_name = "DIR", conflicts_with = "smtp")]
    pub(crate) mail_dir: Option<PathBuf>,
    /// Write another file where there is one; the one that is there is kept beside it.
    #[arg(long)]
    pub(crate) replace: bool,
    /// Do not ask: what no flag says has its default.
    #[arg(long)]
    pub(crate) yes: bool,
}
