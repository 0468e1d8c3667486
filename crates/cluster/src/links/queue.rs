//! What waits to be sent over one connection: a lane for each channel, the urgent ones first, each
//! bounded in bytes.
use super::frame::{Channel, HEAD, MAX_FRAGMENT_BYTES, write_fragment};
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// Fragments of more urgent lanes that may go before one of a lane that waits: urgent does not mean
/// alone.
const TURN: u8 = 32;

#[derive(Default)]
struct Lane {
    messages: VecDeque<Vec<u8>>,
    /// Of the first message, already sent.
    sent: usize,
    /// Of all messages, not yet sent.
    bytes: usize,
    passed_over: u8,
}

/// Shared by those who send and the task that writes.
#[derive(Default)]
pub(crate) struct Queue {
    lanes: Mutex<[Lane; Channel::ALL.len()]>,
    waiting: Notify,
}

impl Queue {
    fn lanes(&self) -> MutexGuard<'_, [Lane; Channel::ALL.len()]> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there was room.
    pub(crate) fn push(&self, channel: Channel, message: Vec<u8>) -> bool {
        let mut lanes = self.lanes();
        let lane = &mut lanes[usize::from(channel.number())];
        // Each message counts its head, too: empty ones are not free.
        if lane.bytes + lane.messages.len() * HEAD + message.len() + HEAD > channel.queue() {
            return false;
        }
        lane.bytes += message.len();
        lane.messages.push_back(message);
        drop(lanes);
        self.waiting.notify_one();
        true
    }

    /// Appends what is to be sent next, at most one TLS record; ends when there is something.
    pub(crate) async fn take(&self, out: &mut Vec<u8>) {
        loop {
            self.fill(out);
            if !out.is_empty() {
                return;
            }
            self.waiting.notified().await;
        }
    }

    fn fill(&self, out: &mut Vec<u8>) {
        let mut lanes = self.lanes();
        while out.len() + HEAD < MAX_FRAGMENT_BYTES {
            let due = |lane: &Lane| !lane.messages.is_empty();
            let starved = lanes.iter().position(|l| due(l) && l.passed_over >= TURN);
            let Some(chosen) = starved.or_else(|| lanes.iter().position(due)) else {
                return;
            };
            for lane in lanes.iter_mut().skip(chosen + 1) {
                lane.passed_over = lane.passed_over.saturating_add(u8::from(due(lane)));
            }
            let lane = &mut lanes[chosen];
            lane.passed_over = 0;
            let Some(message) = lane.messages.front() else {
                return;
            };
            let rest = &message[lane.sent..];
            let room = MAX_FRAGMENT_BYTES - out.len() - HEAD;
            let len = rest.len().min(room);
            let last = len == rest.len();
            write_fragment(Channel::ALL[chosen], last, &rest[..len], out);
            lane.bytes -= len;
            if last {
                lane.sent = 0;
                lane.messages.pop_front();
            } else {
                lane.sent += len;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::frame::Frames, *};

    fn drain(queue: &Queue) -> Vec<(Channel, Vec<u8>)> {
        let mut frames = Frames::new();
        let mut read = Vec::new();
        loop {
            let mut out = Vec::new();
            queue.fill(&mut out);
            if out.is_empty() {
                return read;
            }
            assert!(out.len() <= MAX_FRAGMENT_BYTES);
            frames.feed(&out);
            while let Some(message) = frames.message().expect("frames") {
                read.push(message);
            }
        }
    }

    #[test]
    fn what_is_urgent_overtakes_what_is_long() {
        let queue = Queue::default();
        assert!(queue.push(Channel::Bulk, vec![9; 100_000]));
        let mut first = Vec::new();
        queue.fill(&mut first);
        assert!(queue.push(Channel::Gossip, b"small".to_vec()));
        let mut second = Vec::new();
        queue.fill(&mut second);
        assert_eq!(second[..HEAD], [1, 1, 0, 5]);
    }

    #[test]
    fn what_is_long_is_not_held_up_for_ever() {
        let queue = Queue::default();
        assert!(queue.push(Channel::Bulk, b"long".to_vec()));
        for _ in 0..1000 {
            assert!(queue.push(Channel::Gossip, vec![0; 1000]));
        }
        let read = drain(&queue);
        let at = read
            .iter()
            .position(|(channel, _)| *channel == Channel::Bulk);
        // A message that was cut at the end of a record counts twice.
        assert!(
            at.is_some_and(|at| (1..=usize::from(TURN)).contains(&at)),
            "{at:?}"
        );
        assert_eq!(read.len(), 1001);
    }

    #[test]
    fn each_lane_is_bounded_and_has_room_again() {
        for channel in Channel::ALL {
            let queue = Queue::default();
            let message = vec![1; channel.most()];
            let mut pushed = 0;
            while queue.push(channel, message.clone()) {
                pushed += 1;
            }
            assert!(pushed > 0, "{channel:?}");
            assert!(pushed * message.len() <= channel.queue());
            let read = drain(&queue);
            assert_eq!(read, vec![(channel, message.clone()); pushed]);
            assert!(queue.push(channel, message));
        }
        let queue = Queue::default();
        let empty = (0..).take_while(|_| queue.push(Channel::Control, Vec::new()));
        assert_eq!(empty.count(), Channel::Control.queue() / HEAD);
    }
}
