//! Who has acknowledged what was announced.
use crate::{NodeId, batch::Ranges};
use signet_merge::tell::Receipt;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Something that was announced, until its receipt is made.
pub(super) type Ticket = u64;

#[derive(Debug)]
struct Open {
    told_us: u64,
    /// All of its entries are in batches.
    complete: bool,
    seqs: Ranges,
    /// How many of those batches each member has not acknowledged yet.
    waiting: BTreeMap<NodeId, usize>,
    acknowledged: Vec<(NodeId, Duration)>,
}

#[derive(Default, Debug)]
pub(super) struct Receipts {
    next: Ticket,
    open: BTreeMap<Ticket, Open>,
    by_seq: BTreeMap<u64, Vec<Ticket>>,
}

impl Receipts {
    pub(super) fn begin(&mut self, now_us: u64) -> Ticket {
        self.next += 1;
        let open = Open {
            told_us: now_us,
            complete: false,
            seqs: Ranges::new(),
            waiting: BTreeMap::new(),
            acknowledged: Vec::new(),
        };
        self.open.insert(self.next, open);
        self.next
    }

    /// Entries of the ticket are in this batch, which these members are to acknowledge.
    pub(super) fn in_batch<'a>(
        &mut self,
        ticket: Ticket,
        seq: u64,
        last: bool,
        members: impl Iterator<Item = &'a NodeId>,
    ) {
        let Some(open) = self.open.get_mut(&ticket) else {
            return;
        };
        open.complete |= last;
        if open.seqs.contains(seq) {
            return;
        }
        open.seqs.insert(seq);
        for member in members {
            *open.waiting.entry(member.clone()).or_default() += 1;
        }
        self.by_seq.entry(seq).or_default().push(ticket);
    }

    /// Called once for a member and a batch, when it says that it believes it.
    pub(super) fn acknowledged(&mut self, by: &NodeId, seq: u64, now_us: u64) {
        for ticket in self.by_seq.get(&seq).into_iter().flatten() {
            let Some(open) = self.open.get_mut(ticket) else {
                continue;
            };
            let Some(left) = open.waiting.get_mut(by) else {
                continue;
            };
            *left -= 1;
            if *left == 0 && open.complete {
                open.waiting.remove(by);
                let took = Duration::from_micros(now_us.saturating_sub(open.told_us));
                open.acknowledged.push((by.clone(), took));
            }
        }
    }

    /// A member is none any more: nobody waits for it.
    pub(super) fn left(&mut self, members: &BTreeSet<NodeId>) {
        for open in self.open.values_mut() {
            open.waiting.retain(|node, _| members.contains(node));
        }
    }

    /// The receipts of those for which nobody that can be reached is waited for any more, or that
    /// have waited long enough.
    pub(super) fn finish(
        &mut self,
        now_us: u64,
        patience_us: u64,
        reachable: impl Fn(&NodeId) -> bool,
    ) -> Vec<(Ticket, Receipt)> {
        let done: Vec<Ticket> = self
            .open
            .iter()
            .filter(|(_, open)| {
                let waits = open.waiting.keys().any(&reachable);
                open.complete && !waits || now_us.saturating_sub(open.told_us) >= patience_us
            })
            .map(|(ticket, _)| *ticket)
            .collect();
        done.into_iter()
            .filter_map(|ticket| Some((ticket, self.close(ticket)?)))
            .collect()
    }

    pub(super) fn close(&mut self, ticket: Ticket) -> Option<Receipt> {
        let open = self.open.remove(&ticket)?;
        for (first, last) in open.seqs.iter() {
            for seq in first..=last {
                if let Some(tickets) = self.by_seq.get_mut(&seq) {
                    tickets.retain(|other| *other != ticket);
                    if tickets.is_empty() {
                        self.by_seq.remove(&seq);
                    }
                }
            }
        }
        Some(Receipt {
            acknowledged: open.acknowledged,
            unreachable: open.waiting.into_keys().collect(),
        })
    }

    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }
}
