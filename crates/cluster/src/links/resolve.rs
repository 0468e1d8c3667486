//! From names to addresses.
use signet_merge::tell::BoxFuture;
use std::{fmt, io, net::SocketAddr, sync::Arc};

type Resolve = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync;

/// What a name and a port (`host:port`) stand for at the moment: asked again at each attempt to
/// connect, because the addresses behind the name of a headless service come and go.
#[derive(Clone)]
pub struct Resolver(Arc<Resolve>);

impl Resolver {
    /// One of the caller's.
    pub fn new(
        resolve: impl Fn(String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>
        + Send
        + Sync
        + 'static,
    ) -> Resolver {
        Resolver(Arc::new(resolve))
    }

    /// All addresses, in the order in which they are tried.
    ///
    /// # Errors
    /// There is no such name, or nobody who knows.
    pub(super) async fn resolve(&self, address: &str) -> io::Result<Vec<SocketAddr>> {
        (self.0)(address.to_owned()).await
    }
}

impl Default for Resolver {
    /// The system's.
    fn default() -> Resolver {
        Resolver::new(|address| {
            Box::pin(async move { Ok(tokio::net::lookup_host(address).await?.collect()) })
        })
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}
