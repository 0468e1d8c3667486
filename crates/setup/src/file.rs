//! The configuration file that setup writes: what was answered, and where the rest is found.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Where the server's certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// Made here, in the data directory.
    SelfMade,
    /// Files of the operator: chain and key.
    Own(PathBuf, PathBuf),
    /// None: a reverse proxy at these addresses has it.
    Proxy(Vec<IpAddr>),
}

/// How mail leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mail {
    /// It does not.
    No,
    /// Into files.
    Directory {
        /// The sender.
        from: String,
        /// Where.
        directory: PathBuf,
    },
    /// By a server.
    Smtp {
        /// The sender.
        from: String,
        /// Its host name.
        host: String,
        /// The account there, and the file with its password.
        account: Option<(String, PathBuf)>,
    },
}

/// All answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) issuer: String,
    /// As it stands in the file: relative to the file's directory, or absolute.
    pub(crate) data_dir: PathBuf,
    pub(crate) listen: SocketAddr,
    pub(crate) certificate: Certificate,
    pub(crate) mail: Mail,
}

/// A text in TOML: as it is in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

impl Answers {
    /// The file.
    pub(crate) fn file(&self) -> String {
        let mut out = String::from(
            "# The configuration of this Signet server, as `signet setup` wrote it. What is left out has its\n\
             # default. `signet config check FILE` names every mistake, `signet explain NAME` prints a setting,\n\
             # and `signet config example --all` every setting there is. Relative paths start at this file's\n\
             # directory.\n\n",
        );
        self.body(&mut out);
        out
    }

    fn body(&self, out: &mut String) {
        // Writing into a text does not fail.
        let _ = writeln!(
            out,
            "# The URL that clients know the server by. It is in every token: it cannot change later without\n\
             # every client hearing of it.\nissuer = {}\n",
            quoted(&self.issuer)
        );
        let _ = writeln!(
            out,
            "# The database and the sealing keys. Whoever can read it is the server: back it up, and give it to\n\
             # nobody else.\ndata_dir = {}\n",
            path(&self.data_dir)
        );
        let (protocol, why) = match self.certificate {
            Certificate::Proxy(_) => (
                "http",
                "# Where the reverse proxy finds it. Nothing else should reach this address: it speaks no TLS.",
            ),
            Certificate::SelfMade | Certificate::Own(..) => ("https", "# Where it listens."),
        };
        let _ = writeln!(
            out,
            "{why}\n[[listeners]]\naddress = {}\nprotocol = \"{protocol}\"\n",
            quoted(&self.listen.to_string())
        );
        match &self.certificate {
            Certificate::SelfMade => {
                let server = self.data_dir.join(crate::certificate::SERVER_CERT);
                let key = self.data_dir.join(crate::certificate::SERVER_KEY);
                let _ = writeln!(
                    out,
                    "# Made by `signet setup`; `signet trust` has this machine and its browsers believe it. Replace it\n\
                     # by one of a public authority for people elsewhere. Both files are read again on SIGHUP.\n\
                     [tls]\ncertificate = {}\nkey = {}\n",
                    path(&server),
                    path(&key)
                );
            }
            Certificate::Own(chain, key) => {
                let _ = writeln!(
                    out,
                    "# Leaf first. Both files are read again on SIGHUP.\n[tls]\ncertificate = {}\nkey = {}\n",
                    path(chain),
                    path(key)
                );
            }
            Certificate::Proxy(trusted) => {
                let trusted: Vec<String> =
                    trusted.iter().map(|ip| quoted(&ip.to_string())).collect();
                let _ = writeln!(
                    out,
                    "# Addresses of the reverse proxy, whose word for the client's address counts. `secret_file` keeps\n\
                     # other programs at these addresses from passing for it.\n[proxy]\ntrusted = [{}]\n#secret_file = \"secrets/proxy\"\n",
                    trusted.join(", ")
                );
            }
        }
        match &self.mail {
            Mail::No => out.push_str(
                "# Without mail there are no one-time codes and no recovery by mail.\n\
                 #[mail]\n#from = \"Example Login <login@example.com>\"\n#[mail.smtp]\n#host = \"smtp.example.com\"\n",
            ),
            Mail::Directory { from, directory } => {
                let _ = writeln!(
                    out,
                    "# Mail is written into files, one a message, instead of being sent.\n[mail]\nfrom = {}\ndirectory = {}",
                    quoted(from),
                    path(directory)
                );
            }
            Mail::Smtp {
                from,
                host,
                account,
            } => {
                let _ = writeln!(
                    out,
                    "# How mail leaves: TLS from the first byte, at port 465.\n[mail]\nfrom = {}\n\n[mail.smtp]\nhost = {}",
                    quoted(from),
                    quoted(host)
                );
                if let Some((name, password)) = account {
                    let _ = writeln!(
                        out,
                        "username = {}\npassword = {{ file = {} }}",
                        quoted(name),
                        path(password)
                    );
                }
            }
        }
    }
}
