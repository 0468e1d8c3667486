//! What waits to be signed.
use super::*;

impl Engine {
    pub(super) fn keep(&mut self, from: Option<NodeId>, pushed: bool, signed: Signed) {
        let bytes = signed.bytes().len();
        self.pending_bytes += bytes;
        let pending = Pending {
            from,
            pushed,
            bytes,
            step: Step::Keeping,
            signed: signed.clone(),
        };
        self.pending.insert(signed.batch().id.clone(), pending);
        self.out.push_back(Output::Keep(vec![signed]));
    }

    pub(super) fn sign_next(&mut self, now: Now) {
        if self.signing.is_none() && self.pending_bytes < MAX_PENDING_BYTES {
            self.signing = self.next_batch(now);
        }
        if let Some(signing) = &mut self.signing
            && !signing.handed_out
        {
            signing.handed_out = true;
            self.out.push_back(Output::Sign(signing.batch.clone()));
        }
    }

    pub(super) fn next_batch(&mut self, now: Now) -> Option<Signing> {
        let mut tickets = Vec::new();
        let mut taken = Vec::new();
        let mut manifest = None;
        let mut bytes = 0;
        while let Some(waiting) = self.waiting.front_mut() {
            match waiting {
                Waiting::Manifest(told_again) => {
                    if taken.is_empty() {
                        let told_again = std::mem::take(told_again);
                        self.waiting.pop_front();
                        manifest = Some(self.manifest(&told_again));
                    }
                    break;
                }
                Waiting::Entries { ticket, entries } => {
                    let mut full = false;
                    while let Some(entry) = entries.front() {
                        full = taken.len() == MAX_ENTRIES
                            || bytes + entry.len() > MAX_SHARED_BYTES && !taken.is_empty();
                        if full {
                            break;
                        }
                        bytes += entry.len();
                        self.waiting_bytes = self.waiting_bytes.saturating_sub(entry.len());
                        taken.extend(entries.pop_front());
                    }
                    if let Some(ticket) = ticket {
                        tickets.push((*ticket, entries.is_empty()));
                    }
                    if full {
                        break;
                    }
                    self.waiting.pop_front();
                }
            }
        }
        if taken.is_empty() && manifest.is_none() {
            return None;
        }
        Some(Signing {
            batch: Batch {
                id: BatchId {
                    stream: self.stream.clone(),
                    seq: self.next_seq,
                },
                signer: self.keys.own(),
                stamp: self.hlc.now(now.wall_ms),
                entries: taken,
                manifest,
            },
            tickets,
            handed_out: false,
        })
    }
}
