//! One connection of an open load: takes the next operation that is due, and stays with it to its
//! last answer.

use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{timeout, timeout_at},
};
use tokio_rustls::client::TlsStream;

use super::{Actor, SHOWN, Share, Verdict, answer::Reader};
use crate::client::{Failure, Target};

/// How often an actor that waits is asked.
const ASK: Duration = Duration::from_millis(1);

/// Opens a connection, TLS and all.
pub(super) async fn open(target: &Target) -> Result<TlsStream<TcpStream>, Failure> {
    let stream = target.stream().await?;
    let name = ServerName::try_from("localhost")?;
    let connector = tokio_rustls::TlsConnector::from(target.tls());
    Ok(connector.connect(name, stream).await?)
}

/// How an operation ended that was sent.
enum Ended {
    Right,
    Shed,
    Wrong(String),
    Unanswered,
}

/// Takes operations until all were taken.
pub(super) async fn serve(
    target: Target,
    stream: TlsStream<TcpStream>,
    share: &Share,
    mut actor: impl Actor,
) -> Result<(), Failure> {
    let begun = share.begun.get().ok_or("begun before the start")?;
    let mut stream = Some(stream);
    let mut reader = Reader::default();
    loop {
        // A permit that lies there was not waited for: no connection was free when it was given.
        let waited_for = match share.permits.try_acquire() {
            Ok(permit) => {
                permit.forget();
                false
            }
            Err(_) => {
                share.permits.acquire().await?.forget();
                true
            }
        };
        let n = share.taken.get();
        if n >= share.count {
            return Ok(());
        }
        share.taken.set(n + 1);
        let due = share.due(begun, n);
        let late = due.elapsed();
        if waited_for {
            let mut outcome = share.outcome.borrow_mut();
            outcome.lateness.saturating_record(microseconds(late));
        }
        if late > share.patience {
            let mut outcome = share.outcome.borrow_mut();
            outcome.dropped += 1;
            outcome.times.saturating_record(microseconds(late));
            continue;
        }
        // A connection that broke is opened again in the time of the operation that needs it.
        let mut kept = match stream.take() {
            Some(stream) => Some(stream),
            None => {
                let opened = timeout(share.patience, open(&target)).await;
                opened.ok().and_then(Result::ok)
            }
        };
        let (ended, stays) = match &mut kept {
            Some(stream) => {
                let end = Instant::now() + share.patience;
                let done = operation(stream, &mut reader, &mut actor);
                match timeout_at(end.into(), done).await {
                    Ok(Ok((ended, stays))) => (ended, stays),
                    Ok(Err(_)) | Err(_) => (Ended::Unanswered, false),
                }
            }
            None => (Ended::Unanswered, false),
        };
        let mut outcome = share.outcome.borrow_mut();
        outcome.times.saturating_record(microseconds(due.elapsed()));
        match ended {
            Ended::Right => outcome.right += 1,
            Ended::Shed => outcome.shed += 1,
            Ended::Unanswered => outcome.unanswered += 1,
            Ended::Wrong(why) => {
                outcome.wrong += 1;
                if outcome.shown.len() < SHOWN {
                    outcome.shown.push(why);
                }
            }
        }
        drop(outcome);
        if stays {
            stream = kept;
        }
    }
}

/// One operation, from its first request to its last answer; and whether the connection is of
/// further use.
async fn operation(
    stream: &mut TlsStream<TcpStream>,
    reader: &mut Reader,
    actor: &mut impl Actor,
) -> Result<(Ended, bool), Failure> {
    let mut request = actor.begin();
    loop {
        stream.write_all(&request).await?;
        stream.flush().await?;
        let stays = reader.read(stream).await?;
        let ended = match actor.answered(&reader.answer()) {
            Verdict::Right => Ended::Right,
            Verdict::Shed => Ended::Shed,
            Verdict::Wrong(why) => Ended::Wrong(why),
            Verdict::Next(next) => {
                request = next;
                continue;
            }
            Verdict::Wait => {
                request = loop {
                    if let Some(next) = actor.waited() {
                        break next;
                    }
                    tokio::time::sleep(ASK).await;
                };
                continue;
            }
        };
        return Ok((ended, stays));
    }
}

fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
