//! TLS for the driver, by the same library as everywhere.
use super::{PostgresError, address::Address};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
};
use std::{
    future::Future,
    io,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{self, ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::{TlsConnector, client::TlsStream};

#[derive(Clone)]
pub(super) struct MakeTls(Arc<ClientConfig>);

pub(super) struct Connect {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

pub(super) struct Stream<S>(Box<TlsStream<S>>);

impl MakeTls {
    /// What the address says is believed, and shown.
    pub(super) fn new(address: &Address) -> Result<MakeTls, PostgresError> {
        let mut roots = RootCertStore::empty();
        match &address.root_certificates {
            Some(file) => {
                for certificate in certificates(file)? {
                    roots.add(certificate).map_err(|e| unusable(file, &e))?;
                }
            }
            None => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
            }
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| PostgresError::Tls(e.to_string()))?
            .with_root_certificates(roots);
        let config = match &address.client_certificate {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => config
                .with_client_auth_cert(
                    certificates(certificate)?,
                    PrivateKeyDer::from_pem_file(key).map_err(|e| unusable(key, &e))?,
                )
                .map_err(|e| unusable(certificate, &e))?,
        };
        Ok(MakeTls(Arc::new(config)))
    }
}

fn unusable(file: &Path, error: &dyn std::fmt::Display) -> PostgresError {
    PostgresError::Tls(format!("{}: {error}", file.display()))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, PostgresError> {
    let all = CertificateDer::pem_file_iter(file).map_err(|e| unusable(file, &e))?;
    let all: Vec<_> = all
        .collect::<Result<_, _>>()
        .map_err(|e| unusable(file, &e))?;
    match all.is_empty() {
        true => Err(unusable(file, &"there is no certificate in it")),
        false => Ok(all),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for MakeTls {
    type Stream = Stream<S>;
    type TlsConnect = Connect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Connect> {
        let name = ServerName::try_from(domain.to_owned());
        let config = self.0.clone();
        let name = name.map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
        Ok(Connect { config, name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Connect {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let connected = TlsConnector::from(self.config).connect(self.name, stream);
            Ok(Stream(Box::new(connected.await?)))
        })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> tls::TlsStream for Stream<S> {
    // The server's certificate is checked against roots and its name: binding the password to it
    // would prove the same once more.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
