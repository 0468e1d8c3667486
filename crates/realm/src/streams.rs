//! The open revocation streams: how many there are, what their readers have acknowledged, and the
//! word that ends them when the server stops.
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::{sync::watch, time::timeout_at};

/// Streams at once. Beyond, the answer is 503.
pub const MAX_STREAMS: usize = 1024;

/// Names a stream: random, and told to its reader alone.
pub type StreamId = [u8; 16];

/// The open streams of a realm.
pub struct Streams {
    open: Arc<AtomicUsize>,
    stop: watch::Sender<bool>,
    readers: Arc<Readers>,
}

/// Readers by their streams.
#[derive(Default)]
struct Readers(Mutex<HashMap<StreamId, Arc<Reader>>>);

/// Who reads a stream.
struct Reader {
    client_id: String,
    /// It said that it acknowledges what it heard.
    acknowledges: bool,
    /// How often it was asked whether it heard everything up to there.
    asked: watch::Sender<u64>,
    /// The last time that it answered. Closed with the stream.
    answered: watch::Sender<u64>,
}

/// What a reader says that it has in effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acknowledged {
    /// Its stream.
    pub stream: StreamId,
    /// The client that reads.
    pub client_id: String,
    /// Everything that was sent before it was asked for this time.
    pub number: u64,
}

/// What a reader said when it was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heard {
    /// The client that reads.
    pub client_id: String,
    /// After how long it acknowledged; none where it did not.
    pub after: Option<Duration>,
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            open: Arc::default(),
            stop: watch::Sender::new(false),
            readers: Arc::default(),
        }
    }
}

impl Readers {
    // A panic while the lock is held leaves the map whole: every step is one insert or remove.
    fn lock(&self) -> MutexGuard<'_, HashMap<StreamId, Arc<Reader>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// Ends all of them, and every later one at its beginning: the server stops.
    pub fn end(&self) {
        self.stop.send_replace(true);
    }

    /// Says `true` once the streams have to end.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// A place for one more, until it is dropped; `None` where as many are open as may be.
    /// `acknowledges`: its reader says what it heard, when it is asked.
    pub fn enter(&self, client_id: &str, acknowledges: bool) -> Option<Place> {
        let entered = self.open.fetch_update(Relaxed, Relaxed, |open| {
            (open < MAX_STREAMS).then_some(open + 1)
        });
        entered.ok()?;
        let id = signet_crypto::random::bytes();
        let reader = Arc::new(Reader {
            client_id: client_id.to_owned(),
            acknowledges,
            asked: watch::Sender::new(0),
            answered: watch::Sender::new(0),
        });
        let asked = reader.asked.subscribe();
        self.readers.lock().insert(id, reader);
        Some(Place {
            id,
            asked,
            open: Arc::clone(&self.open),
            readers: Arc::clone(&self.readers),
        })
    }

    /// Notes what the reader of a stream has in effect. Whether there is such a stream of this
    /// client.
    pub fn acknowledge(&self, word: &Acknowledged) -> bool {
        let reader = self.readers.lock().get(&word.stream).cloned();
        let Some(reader) = reader.filter(|reader| reader.client_id == word.client_id) else {
            return false;
        };
        // What was not asked is not believed to be heard.
        let asked = *reader.asked.borrow();
        reader.answered.send_if_modified(|answered| {
            let later = (*answered).max(word.number.min(asked));
            std::mem::replace(answered, later) != later
        });
        true
    }

    /// Asks every reader whether it has in effect what was sent up to now, and waits for the
    /// answers, for `patience` at most. A reader that does not acknowledge, or whose stream ends
    /// meanwhile, has not.
    pub async fn ask(&self, patience: Duration) -> Vec<Heard> {
        let begun = Instant::now();
        let until = tokio::time::Instant::now() + patience;
        let readers: Vec<Arc<Reader>> = self.readers.lock().values().cloned().collect();
        let mut asked = Vec::with_capacity(readers.len());
        for reader in readers {
            let mut number = 0;
            reader.asked.send_modify(|asked| {
                *asked += 1;
                number = *asked;
            });
            let answers = reader.acknowledges.then(|| reader.answered.subscribe());
            // The stream's end drops the last sender: nobody waits for a reader that is gone.
            asked.push((reader.client_id.clone(), number, answers));
        }
        let mut heard = Vec::with_capacity(asked.len());
        for (client_id, number, answers) in asked {
            let after = match answers {
                None => None,
                Some(mut answers) => {
                    let answer = answers.wait_for(|answered| *answered >= number);
                    let answer = timeout_at(until, answer).await;
                    matches!(answer, Ok(Ok(_))).then(|| begun.elapsed())
                }
            };
            heard.push(Heard { client_id, after });
        }
        heard
    }
}

/// One open stream.
pub struct Place {
    id: StreamId,
    asked: watch::Receiver<u64>,
    open: Arc<AtomicUsize>,
    readers: Arc<Readers>,
}

impl Place {
    /// Its name.
    pub fn id(&self) -> &StreamId {
        &self.id
    }

    /// Says how often the reader was asked what it heard.
    pub fn asked(&self) -> watch::Receiver<u64> {
        self.asked.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.readers.lock().remove(&self.id);
        self.open.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_reader_has_heard_what_it_acknowledges_and_nothing_that_it_was_not_asked() {
        let streams = Arc::new(Streams::default());
        let place = streams.enter("gate", true).expect("a place");
        let says = |stream: &StreamId, client_id: &str, number| {
            streams.acknowledge(&Acknowledged {
                stream: *stream,
                client_id: client_id.to_owned(),
                number,
            })
        };
        // Said ahead: it cannot have heard what is not yet told.
        assert!(says(place.id(), "gate", 9));
        let mut asked = place.asked();
        let asking = tokio::spawn({
            let streams = Arc::clone(&streams);
            async move { streams.ask(PATIENCE).await }
        });
        let number = *asked.wait_for(|asked| *asked > 0).await.expect("is asked");
        assert!(!says(place.id(), "another", number));
        assert!(!says(&[0; 16], "gate", number));
        assert!(says(place.id(), "gate", number));
        let heard = asking.await.expect("answers");
        assert_eq!(heard.len(), 1);
        assert!(heard[0].after.is_some());
    }

    #[tokio::test]
    async fn a_reader_that_is_silent_does_not_acknowledge_or_is_gone_has_not_heard() {
        let streams = Arc::new(Streams::default());
        let silent = streams.enter("silent", true).expect("a place");
        let old = streams.enter("old", false).expect("a place");
        let gone = streams.enter("gone", true).expect("a place");
        let asking = tokio::spawn({
            let streams = Arc::clone(&streams);
            async move { streams.ask(Duration::from_millis(50)).await }
        });
        let mut asked = gone.asked();
        asked.wait_for(|asked| *asked > 0).await.expect("is asked");
        drop(asked);
        drop(gone);
        let heard = asking.await.expect("answers");
        assert_eq!(heard.len(), 3);
        assert!(heard.iter().all(|heard| heard.after.is_none()));
        drop((silent, old));
        assert!(streams.ask(PATIENCE).await.is_empty());
    }
}
