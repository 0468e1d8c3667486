//! Reading an issuer's stream of revocations (the server's `/revocations`), beside the requests.
//!
//! The reader acknowledges: the first line is `{"stream": ID}`, and where the server asks
//! (`{"acknowledge": N}`), it is answered when everything before is in effect.
//!
//! One object a line: revocations, `{"synced": T}` when all earlier ones were sent, and
//! `{"heartbeat": T}` every few seconds. Both say `"heard": S` besides, until when the node knew
//! what the other nodes revoked. A node that is cut off from them keeps speaking, so it is `S`
//! that counts, by the difference of the two: the clocks here and there may differ. Whatever goes
//! wrong (silence, an end, a line that is not understood) loses the stream: it is noted with its
//! reason, and the reader begins again and hears everything again. What it knows stays, for
//! revocations only grow. How long tokens are accepted meanwhile is [`crate::OnStreamLoss`]'s.

use crate::{
    MemoryRevocations, Subject,
    outbound::{Credentials, Kept, Outbound, Outgoing, credentials::encode, metadata},
};
use bytes::Bytes;
use signet_encoding::json::{self, Limits, Object};
use signet_revocation::{Line, Member};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};

/// Silence after which the stream is lost: three heartbeats and a little.
const SILENCE: Duration = Duration::from_secs(7);
/// First pause after a loss; doubled with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Longest line, in bytes: the longest id, each byte escaped.
const MAX_LINE: usize = 16 * 1024;
/// Lines between two sweeps of expired entries.
const SWEEP_AFTER: u32 = 4096;

/// Keeps [`MemoryRevocations`] current.
pub struct RevocationReader {
    issuer: String,
    url: Option<String>,
    credentials: Credentials,
    revocations: Arc<MemoryRevocations>,
    outbound: Arc<Outbound>,
    now: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl RevocationReader {
    /// `issuer` is the name of the issuer, whose metadata says where the stream is
    /// (`signet_revocation_stream_uri`); `now` gives Unix seconds.
    pub fn new(
        issuer: impl Into<String>,
        credentials: Credentials,
        revocations: Arc<MemoryRevocations>,
        outbound: Arc<Outbound>,
        now: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> RevocationReader {
        RevocationReader {
            issuer: issuer.into(),
            url: None,
            credentials,
            revocations,
            outbound,
            now: Arc::new(now),
        }
    }

    /// Where the stream is, if the metadata does not say so.
    #[must_use]
    pub fn at(mut self, url: impl Into<String>) -> RevocationReader {
        self.url = Some(url.into());
        self
    }

    /// Reads until it is dropped.
    pub async fn run(self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let mut synced = false;
            let Err(error) = self.read(&mut synced).await;
            if synced {
                pause = FIRST_PAUSE;
            }
            if synced || pause == FIRST_PAUSE {
                tracing::warn!(issuer = self.issuer, error, "lost the revocation stream");
            }
            self.revocations.lost(error);
            let jitter = 0.9 + 0.2 * f64::from(signet_crypto::random::below(1000)) / 1000.0;
            sleep(pause.mul_f64(jitter)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One stream, from its beginning to its loss.
    async fn read(&self, synced: &mut bool) -> Result<Infallible, String> {
        let url = match &self.url {
            Some(url) => url.clone(),
            None => {
                metadata::url_of(&self.issuer, "signet_revocation_stream_uri", &self.outbound)
                    .await?
            }
        };
        let outgoing = Outgoing {
            url: &url,
            accept: "application/x-ndjson",
            authorization: Some(self.credentials.authorization()),
            form: Some(Bytes::from_static(b"acknowledge=true")),
        };
        let stream = self.outbound.stream(&outgoing).await;
        let mut stream = stream.map_err(|error| format!("{url}: {error}"))?;
        let mut lines = Lines::default();
        let mut since_sweep = 0;
        let mut said = Said::default();
        let answers = Arc::new(Kept::new(Arc::clone(&self.outbound), &url));
        loop {
            let chunk = timeout(SILENCE, stream.chunk())
                .await
                .map_err(|_| format!("{url}: silence"))?
                .map_err(|error| format!("{url}: {error}"))?
                .ok_or_else(|| format!("{url}: the stream ended"))?;
            lines
                .feed(&chunk, |line| {
                    since_sweep += 1;
                    self.line(line, synced, &mut said)
                })
                .map_err(|error| format!("{url}: {error}"))?;
            if let (Some(stream), Some(number)) = (&said.stream, said.asked.take()) {
                self.acknowledge(&url, &answers, stream, number);
            } else if std::mem::take(&mut said.alive) && said.stream.is_some() {
                keep_open(&url, &answers);
            }
            if since_sweep > SWEEP_AFTER {
                since_sweep = 0;
                self.revocations.sweep((self.now)());
            }
        }
    }

    /// Says that everything is in effect that was sent before it was asked for the `number`th
    /// time; beside the stream, which goes on. A server that does not get it says so to whoever
    /// waits.
    fn acknowledge(&self, url: &str, answers: &Arc<Kept>, stream: &str, number: u64) {
        let url = url.to_owned();
        let mut form = String::from("stream=");
        encode(stream, &mut form);
        form.push_str("&acknowledged=");
        form.push_str(&number.to_string());
        let authorization = self.credentials.authorization();
        let answers = Arc::clone(answers);
        tokio::spawn(async move {
            let outgoing = Outgoing {
                url: &url,
                accept: "application/json",
                authorization: Some(authorization),
                form: Some(form.into()),
            };
            if let Err(error) = answers.send(&outgoing).await {
                tracing::warn!(url, %error, "failed to acknowledge revocations");
            }
        });
    }

    fn line(&self, line: &[u8], synced: &mut bool, said: &mut Said) -> Result<(), &'static str> {
        const NOT_UNDERSTOOD: &str = "a line that is not understood";
        let object =
            json::parse_object(line, &Limits::default()).map_err(|_| "a line that is no object")?;
        if object.get("synced").is_some() {
            *synced = true;
        }
        if let Some(time) = object.get("synced").or(object.get("heartbeat")) {
            said.alive = true;
            let time = time.as_u64().ok_or(NOT_UNDERSTOOD)?;
            let heard = match object.get("heard") {
                Some(heard) => heard.as_u64().ok_or(NOT_UNDERSTOOD)?,
                // Of a server by itself, or of an earlier version.
                None => time,
            };
            let ago = time.saturating_sub(heard);
            let heard = (self.now)().saturating_sub(ago);
            match *synced {
                true if ago > SILENCE.as_secs() => {
                    let why = format!("the node that tells has not heard the others for {ago} s");
                    self.revocations.behind(heard, why);
                }
                true => self.revocations.heard(heard),
                false => {}
            }
            return Ok(());
        }
        if let Some(stream) = object.get("stream") {
            said.stream = Some(stream.as_str().ok_or(NOT_UNDERSTOOD)?.to_owned());
            return Ok(());
        }
        if let Some(number) = object.get("acknowledge") {
            said.asked = Some(number.as_u64().ok_or(NOT_UNDERSTOOD)?);
            return Ok(());
        }
        let (subject, end) = read_revocation(&object).ok_or(NOT_UNDERSTOOD)?;
        self.revocations.revoke(subject, end);
        Ok(())
    }
}

/// What a stream said of itself.
#[derive(Default)]
struct Said {
    /// What it is called.
    stream: Option<String>,
    /// It wants to hear that everything before is in effect.
    asked: Option<u64>,
    /// There was a sign of life.
    alive: bool,
}

/// The connection for acknowledgements stands before one is asked for: somebody waits then.
fn keep_open(url: &str, answers: &Arc<Kept>) {
    let (url, answers) = (url.to_owned(), Arc::clone(answers));
    tokio::spawn(async move {
        if let Err(error) = answers.open().await {
            tracing::debug!(url, %error, "failed to connect for acknowledgements");
        }
    });
}

fn read_revocation<'o>(object: &'o Object<'_>) -> Option<(Subject<'o>, u64)> {
    let line = Line::read(object.iter().map(|(name, value)| {
        let text = value.as_str().map(Member::Text);
        let number = || value.as_u64().map(Member::Number);
        (name, text.or_else(number).unwrap_or(Member::Other))
    }))?;
    let id = || Ok::<_, Infallible>(line.id);
    let Ok(subject) = Subject::made(line.kind, line.epoch_ms.unwrap_or(0), id, id, id, id);
    Some((subject, line.end))
}

/// Cuts chunks into lines; at most one line is held.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    fn feed(
        &mut self,
        mut chunk: &[u8],
        mut line: impl FnMut(&[u8]) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        while let Some(at) = chunk.iter().position(|byte| *byte == b'\n') {
            let (piece, rest) = chunk.split_at(at);
            chunk = &rest[1..];
            if self.begun.is_empty() {
                line(piece)?;
                continue;
            }
            self.hold(piece)?;
            line(&self.begun)?;
            self.begun.clear();
        }
        self.hold(chunk)
    }

    fn hold(&mut self, piece: &[u8]) -> Result<(), &'static str> {
        if self.begun.len() + piece.len() > MAX_LINE {
            return Err("a line that is too long");
        }
        self.begun.extend_from_slice(piece);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OnStreamLoss, Revocations};

    fn reader() -> RevocationReader {
        RevocationReader::new(
            "https://id.example.com",
            Credentials::new("c", signet_crypto::Secret::new("s".to_owned())),
            Arc::new(MemoryRevocations::new(OnStreamLoss::FailClosedAfter(5))),
            Arc::new(Outbound::new(Default::default())),
            || 1000,
        )
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let text = b"one\ntwo\n\nthree\nfo";
        for size in 1..=text.len() {
            let mut lines = Lines::default();
            let mut got: Vec<Vec<u8>> = Vec::new();
            for chunk in text.chunks(size) {
                let fed = lines.feed(chunk, |line| {
                    got.push(line.to_vec());
                    Ok(())
                });
                assert_eq!(fed, Ok(()));
            }
            assert_eq!(got, [&b"one"[..], b"two", b"", b"three"], "{size}");
            assert_eq!(lines.begun, b"fo");
        }
        let endless = vec![b'x'; MAX_LINE + 1];
        assert!(Lines::default().feed(&endless, |_| Ok(())).is_err());
    }

    #[test]
    fn what_is_not_understood_loses_the_stream() {
        let reader = reader();
        for good in [
            r#"{"jti":"a","end":5}"#,
            r#"{"grant_id":"a","end":5}"#,
            r#"{"sid":"a","end":5}"#,
            r#"{"sub":"a","epoch_ms":1,"end":5}"#,
            r#"{"client_id":"a","epoch_ms":1,"end":5}"#,
            r#"{"agent":"a","epoch_ms":1,"end":5}"#,
            r#"{"agent_grant":"a","end":5}"#,
            r#"{"iss":"https://id.example.com","epoch_ms":1,"end":5}"#,
        ] {
            assert_eq!(
                reader.line(good.as_bytes(), &mut true, &mut Said::default()),
                Ok(()),
                "{good}"
            );
        }
        assert_eq!(reader.revocations.len(), 8);
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"jti":"a"}"#,
            r#"{"jti":1,"end":5}"#,
            r#"{"jti":"a","end":"5"}"#,
            r#"{"jti":"a","epoch_ms":1,"end":5}"#,
            r#"{"sub":"a","end":5}"#,
            r#"{"jti":"a","sid":"b","end":5}"#,
            r#"{"unknown":true,"end":5}"#,
            r#"{"device":"a","end":5}"#,
            r#"{"stream":1}"#,
            r#"{"acknowledge":"1"}"#,
        ] {
            assert!(
                reader
                    .line(bad.as_bytes(), &mut true, &mut Said::default())
                    .is_err(),
                "{bad}"
            );
        }
    }

    // HN1: a node that is cut off from the others keeps speaking.
    #[test]
    fn a_gate_counts_from_when_its_node_heard_the_others_and_not_from_when_it_spoke() {
        let reader = reader();
        let hear = |line: &str| {
            let mut synced = true;
            let heard = reader.line(line.as_bytes(), &mut synced, &mut Said::default());
            assert_eq!(heard, Ok(()), "{line}");
            let health = reader.revocations.health(1000).remove(0);
            (health.refusing, health.state, health.heard_at)
        };
        // The server's clock is another one.
        use crate::RevocationState::{Current, Lost};
        assert_eq!(
            hear(r#"{"synced":5000,"heard":4999}"#),
            (false, Current, 999)
        );
        assert_eq!(
            hear(r#"{"heartbeat":5007,"heard":4999}"#),
            (false, Lost, 999)
        );
        let closed = reader.revocations.health(1005).remove(0);
        assert!(closed.refusing && closed.error.is_some());
        // By itself it opens again; of an earlier version the time that it speaks counts.
        assert_eq!(
            hear(r#"{"heartbeat":5009,"heard":5008}"#),
            (false, Current, 999)
        );
        assert_eq!(hear(r#"{"heartbeat":5011}"#), (false, Current, 1000));
        for bad in [r#"{"heartbeat":"x"}"#, r#"{"heartbeat":5,"heard":-1}"#] {
            let read = reader.line(bad.as_bytes(), &mut true, &mut Said::default());
            assert!(read.is_err(), "{bad}");
        }
    }

    #[test]
    fn a_heartbeat_before_everything_was_told_proves_nothing() {
        let reader = reader();
        let mut synced = false;
        assert!(
            reader
                .line(br#"{"heartbeat":1}"#, &mut synced, &mut Said::default())
                .is_ok()
        );
        assert!(!reader.revocations.is_current());
        assert!(
            reader
                .line(br#"{"synced":1}"#, &mut synced, &mut Said::default())
                .is_ok()
        );
        assert!(reader.revocations.is_current());
    }
}
