//! A connection that stays open, for requests that must not wait for one to be made.
use super::client::{FetchError, Outbound, Outgoing};
use bytes::Bytes;
use signet_http_client::Sender;
use std::sync::Arc;
use tokio::{sync::Mutex, task::AbortHandle};

/// One connection to the server of a URL, one request at a time.
pub(crate) struct Kept {
    outbound: Arc<Outbound>,
    url: String,
    open: Mutex<Option<Open>>,
}

struct Open {
    sender: Sender,
    driver: AbortHandle,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Kept {
    /// Not open yet.
    pub(crate) fn new(outbound: Arc<Outbound>, url: &str) -> Kept {
        Kept {
            outbound,
            url: url.to_owned(),
            open: Mutex::default(),
        }
    }

    /// Opens it, unless it is open.
    pub(crate) async fn open(&self) -> Result<(), FetchError> {
        self.opened(&mut *self.open.lock().await).await.map(drop)
    }

    async fn opened<'a>(&self, open: &'a mut Option<Open>) -> Result<&'a mut Open, FetchError> {
        // The other side may have closed it meanwhile.
        if open.as_ref().is_none_or(|open| open.sender.is_closed()) {
            let (sender, connection) = self.outbound.keep(&self.url).await?;
            let driver = tokio::spawn(connection).abort_handle();
            *open = Some(Open { sender, driver });
        }
        open.as_mut().ok_or(FetchError::Answer)
    }

    /// The body of a 200 answer. What is sent must be harmless to be sent twice: a connection that
    /// turns out to be closed is made again.
    pub(crate) async fn send(&self, outgoing: &Outgoing<'_>) -> Result<Bytes, FetchError> {
        let mut open = self.open.lock().await;
        for attempt in 0..2 {
            let connection = self.opened(&mut open).await?;
            let sent = self.outbound.send_on(&mut connection.sender, outgoing);
            match sent.await {
                // Nobody answered over a connection that stood for long.
                Err(FetchError::Answer) if attempt == 0 => *open = None,
                Ok(body) => return Ok(body),
                Err(error) => {
                    // Half of an answer may be in it.
                    *open = None;
                    return Err(error);
                }
            }
        }
        Err(FetchError::Answer)
    }
}
