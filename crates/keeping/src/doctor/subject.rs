//! What is looked at.

use std::path::{Path, PathBuf};

use signet_admin_client::http_client::HttpClient;
use signet_terminal::Failure;

use crate::place::Place;

/// A server, and how it is reached.
pub(crate) struct Subject {
    pub(crate) place: Place,
    /// The issuer.
    pub(crate) issuer: String,
    /// Its host, without the brackets of an IPv6 address.
    pub(crate) host: String,
    /// Its port.
    pub(crate) port: u16,
    /// PEM files of further authorities.
    pub(crate) trust: Vec<PathBuf>,
    /// Asks the issuer.
    pub(crate) client: HttpClient,
}

impl Subject {
    /// Of a server. `ca_cert`: an authority beside the system's.
    ///
    /// # Errors
    /// It cannot be said which issuer it has, or the authority cannot be used.
    pub(crate) fn of(place: Place, ca_cert: Option<&Path>) -> Result<Subject, Failure> {
        let issuer = place.issuer().ok_or_else(|| {
            Failure::unusable(format!(
                "{} does not say its issuer: --config FILE does",
                place.data_dir.display()
            ))
        })?;
        let issuer = issuer.to_owned();
        let uri: http::Uri = issuer
            .parse()
            .map_err(|_| Failure::unusable(format!("the issuer is no URL: {issuer}")))?;
        let host = uri.host().unwrap_or_default();
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let port = uri.port_u16().unwrap_or(443);
        let trust: Vec<PathBuf> = match (ca_cert, &place.dev) {
            (Some(file), _) => vec![file.to_owned()],
            // It may have been moved: what lies beside it counts.
            (None, Some(_)) => vec![place.data_dir.join("ca.pem")],
            (None, None) => Vec::new(),
        };
        let client = HttpClient::new(&trust).map_err(Failure::unusable)?;
        Ok(Subject {
            place,
            issuer,
            host,
            port,
            trust,
            client,
        })
    }
}
