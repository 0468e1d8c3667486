//! The state and its rules.
use super::dots::Dots;
use crate::hlc::Stamp;
use std::collections::BTreeMap;

/// A register: the value of its newest write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Register {
    pub(super) stamp: Stamp,
    pub(super) value: Option<Vec<u8>>,
}

/// An element of a set: claims about it, of which those count that nobody undid. In a set whose
/// adds win a claim is an add, and the element is in the set while one counts; in a set whose
/// removes win a claim is a denial, and the element is in the set if it was allowed and no denial
/// counts.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Element {
    /// What counts while it is not covered.
    pub(super) claims: Dots,
    /// What covers claims: those that somebody saw and undid.
    pub(super) undone: Dots,
    /// The newest permission; sets whose removes win have it, the others never.
    pub(super) allowed: Option<Stamp>,
}

impl Element {
    fn merge(&mut self, other: &Element) {
        self.claims.join(&other.claims);
        self.undone.join(&other.undone);
        if other.allowed > self.allowed {
            self.allowed.clone_from(&other.allowed);
        }
    }

    /// Drops what an outdated stamp or an undone claim is; whether anything is left.
    fn settle(&mut self, counts: &impl Fn(&Stamp) -> bool) -> bool {
        self.undone.retain(counts);
        let undone = &self.undone;
        self.claims
            .retain(|stamp| counts(stamp) && !undone.covers(stamp));
        if self.allowed.as_ref().is_some_and(|stamp| !counts(stamp)) {
            self.allowed = None;
        }
        !self.claims.is_empty() || !self.undone.is_empty() || self.allowed.is_some()
    }

    fn beyond(&self, base: &Element) -> Element {
        Element {
            claims: self.claims.beyond(&base.claims),
            undone: self.undone.beyond(&base.undone),
            allowed: if self.allowed > base.allowed {
                self.allowed.clone()
            } else {
                None
            },
        }
    }

    /// Whether a stamp of one has the same place in the other.
    fn shares(&self, other: &Element) -> bool {
        let shared = |own: &Dots, theirs: &Dots| own.iter().any(|stamp| theirs.has(stamp));
        shared(&self.claims, &other.claims)
            || shared(&self.undone, &other.undone)
            || self.allowed.is_some() && self.allowed == other.allowed
    }

    fn stamps(&self) -> impl Iterator<Item = &Stamp> {
        self.claims
            .iter()
            .chain(self.undone.iter())
            .chain(&self.allowed)
    }
}

pub(super) type Elements = BTreeMap<Vec<u8>, Element>;

/// The state of one thing, and equally a fragment of it. See the [module](super).
///
/// Members are named by the room above. A register, a set whose adds win and a set whose removes
/// win do not meet under one name: each kind has names of its own.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Record {
    pub(super) created: Option<Stamp>,
    pub(super) deleted: Option<Stamp>,
    pub(super) registers: BTreeMap<String, Register>,
    /// Sets whose adds win: a claim is an add.
    pub(super) sets: BTreeMap<String, Elements>,
    /// Sets whose removes win: a claim is a denial.
    pub(super) rights: BTreeMap<String, Elements>,
}

impl Record {
    /// Of something that nobody has written.
    pub fn new() -> Record {
        Record::default()
    }

    /// Whether nothing is in it: as a fragment it changes nothing.
    pub fn is_empty(&self) -> bool {
        *self == Record::default()
    }

    /// It begins, or begins again: of what was written before `stamp` nothing counts any more.
    pub fn create(&mut self, stamp: &Stamp) {
        if self.created.as_ref() < Some(stamp) {
            self.created = Some(stamp.clone());
            self.settle();
        }
    }

    /// It ends: of what was written at `stamp` or before, nothing counts any more.
    pub fn delete(&mut self, stamp: &Stamp) {
        if self.deleted.as_ref() < Some(stamp) {
            self.deleted = Some(stamp.clone());
            self.settle();
        }
    }

    /// Whether it was created, and not deleted since.
    pub fn lives(&self) -> bool {
        self.created > self.deleted
    }

    /// When its newest life began.
    pub fn created(&self) -> Option<&Stamp> {
        self.created.as_ref()
    }

    /// When it was last deleted.
    pub fn deleted(&self) -> Option<&Stamp> {
        self.deleted.as_ref()
    }

    /// Whether a write at this time counts: not before the newest creation, and after the newest
    /// deletion.
    fn counts(created: Option<&Stamp>, deleted: Option<&Stamp>, stamp: &Stamp) -> bool {
        created.is_none_or(|created| stamp >= created)
            && deleted.is_none_or(|deleted| stamp > deleted)
    }

    /// Gives a register a value, or none.
    pub fn set(&mut self, member: &str, value: Option<Vec<u8>>, stamp: &Stamp) {
        if !Self::counts(self.created(), self.deleted(), stamp) {
            return;
        }
        let new = Register {
            stamp: stamp.clone(),
            value,
        };
        match self.registers.get_mut(member) {
            Some(register) => register.merge(&new),
            None => {
                self.registers.insert(member.to_owned(), new);
            }
        }
    }

    /// Adds an element to a set whose adds win.
    pub fn add(&mut self, member: &str, element: &[u8], stamp: &Stamp) {
        if Self::counts(self.created(), self.deleted(), stamp) {
            let element = place(&mut self.sets, member, element);
            if !element.undone.covers(stamp) {
                element.claims.insert(stamp);
            }
        }
    }

    /// Removes an element from a set whose adds win: undoes the adds that are in this record, and
    /// no other ones. Whether there were any.
    pub fn remove(&mut self, member: &str, element: &[u8]) -> bool {
        let found = self
            .sets
            .get_mut(member)
            .and_then(|set| set.get_mut(element));
        let Some(element) = found else {
            return false;
        };
        let claims = std::mem::take(&mut element.claims);
        element.undone.join(&claims);
        !claims.is_empty()
    }

    /// Puts an element into a set whose removes win: undoes the denials that are in this record,
    /// and no other ones.
    pub fn allow(&mut self, member: &str, element: &[u8], stamp: &Stamp) {
        if Self::counts(self.created(), self.deleted(), stamp) {
            let element = place(&mut self.rights, member, element);
            let denials = std::mem::take(&mut element.claims);
            element.undone.join(&denials);
            if element.allowed.as_ref() < Some(stamp) {
                element.allowed = Some(stamp.clone());
            }
        }
    }

    /// Takes an element out of a set whose removes win, also where it was never allowed: only who
    /// has seen this can allow it again.
    pub fn deny(&mut self, member: &str, element: &[u8], stamp: &Stamp) {
        if Self::counts(self.created(), self.deleted(), stamp) {
            let element = place(&mut self.rights, member, element);
            if !element.undone.covers(stamp) {
                element.claims.insert(stamp);
            }
        }
    }

    /// What a register holds. Of a record that does not live it says what was written after the
    /// deletion: ask [`lives`](Self::lives) first.
    pub fn register(&self, member: &str) -> Option<&[u8]> {
        self.registers.get(member)?.value.as_deref()
    }

    /// When a register was last written, also if it holds nothing since.
    pub fn written(&self, member: &str) -> Option<&Stamp> {
        self.registers.get(member).map(|register| &register.stamp)
    }

    /// The registers that hold something, in order of their names.
    pub fn registers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.registers
            .iter()
            .filter_map(|(member, register)| Some((member.as_str(), register.value.as_deref()?)))
    }

    /// The elements of a set whose adds win, in order.
    pub fn elements(&self, member: &str) -> impl Iterator<Item = &[u8]> {
        self.sets
            .get(member)
            .into_iter()
            .flatten()
            .filter(|(_, element)| !element.claims.is_empty())
            .map(|(name, _)| name.as_slice())
    }

    /// The elements of a set whose removes win, in order.
    pub fn allowed(&self, member: &str) -> impl Iterator<Item = &[u8]> {
        self.rights
            .get(member)
            .into_iter()
            .flatten()
            .filter(|(_, element)| element.allowed.is_some() && element.claims.is_empty())
            .map(|(name, _)| name.as_slice())
    }

    /// The join of both: afterwards this record knows what either knew. Whether that changed it.
    pub fn merge(&mut self, other: &Record) -> bool {
        let before = self.clone();
        if other.created > self.created {
            self.created.clone_from(&other.created);
        }
        if other.deleted > self.deleted {
            self.deleted.clone_from(&other.deleted);
        }
        for (member, register) in &other.registers {
            match self.registers.get_mut(member) {
                Some(own) => own.merge(register),
                None => {
                    self.registers.insert(member.clone(), register.clone());
                }
            }
        }
        merge_sets(&mut self.sets, &other.sets);
        merge_sets(&mut self.rights, &other.rights);
        self.settle();
        *self != before
    }

    /// The smallest fragment that carries what this record has beyond `base`, which it was made
    /// from: `base` merged with it is this record.
    #[must_use]
    pub fn difference(&self, base: &Record) -> Record {
        let newer = |own: &Option<Stamp>, theirs: &Option<Stamp>| {
            (own > theirs).then(|| own.clone()).flatten()
        };
        let mut fragment = Record {
            created: newer(&self.created, &base.created),
            deleted: newer(&self.deleted, &base.deleted),
            registers: self
                .registers
                .iter()
                .filter(|(member, own)| base.registers.get(*member) != Some(*own))
                .map(|(member, own)| (member.clone(), own.clone()))
                .collect(),
            sets: sets_beyond(&self.sets, &base.sets),
            rights: sets_beyond(&self.rights, &base.rights),
        };
        fragment.settle();
        fragment
    }

    /// Whether anything that the fragment says is part of this record as it was written, so that
    /// whoever begins from nothing has to hear it. All fragments of which this holds, merged, are
    /// this record.
    pub fn still_says(&self, fragment: &Record) -> bool {
        let same = |own: &Option<Stamp>, theirs: &Option<Stamp>| own.is_some() && own == theirs;
        let in_sets = |own: &BTreeMap<String, Elements>, theirs: &BTreeMap<String, Elements>| {
            theirs.iter().any(|(member, elements)| {
                elements.iter().any(|(name, element)| {
                    let own = own.get(member).and_then(|set| set.get(name));
                    own.is_some_and(|own| own.shares(element))
                })
            })
        };
        same(&self.created, &fragment.created)
            || same(&self.deleted, &fragment.deleted)
            || fragment
                .registers
                .iter()
                .any(|(member, register)| self.registers.get(member) == Some(register))
            || in_sets(&self.sets, &fragment.sets)
            || in_sets(&self.rights, &fragment.rights)
    }

    /// Begins again with the same values, all written at `stamp`: what was removed is forgotten,
    /// and so are edits of others that are earlier and have not arrived yet. For a record that has
    /// become too large; a record that does not live stays as it is.
    pub fn renew(&mut self, stamp: &Stamp) {
        if !self.lives() || self.newest() >= Some(stamp) {
            return;
        }
        let mut anew = Record {
            deleted: self.deleted.clone(),
            ..Record::new()
        };
        anew.create(stamp);
        for (member, value) in self.registers() {
            anew.set(member, Some(value.to_vec()), stamp);
        }
        for member in self.sets.keys() {
            for element in self.elements(member) {
                anew.add(member, element, stamp);
            }
        }
        for member in self.rights.keys() {
            for element in self.allowed(member) {
                anew.allow(member, element, stamp);
            }
        }
        *self = anew;
    }

    /// The latest stamp in it.
    pub fn newest(&self) -> Option<&Stamp> {
        let elements = self.sets.values().chain(self.rights.values()).flatten();
        self.created
            .iter()
            .chain(&self.deleted)
            .chain(self.registers.values().map(|register| &register.stamp))
            .chain(elements.flat_map(|(_, element)| element.stamps()))
            .max()
    }

    /// Drops what no longer counts, so that equal states are equal values.
    pub(super) fn settle(&mut self) {
        let (created, deleted) = (self.created.as_ref(), self.deleted.as_ref());
        let counts = |stamp: &Stamp| Self::counts(created, deleted, stamp);
        self.registers.retain(|_, own| counts(&own.stamp));
        for sets in [&mut self.sets, &mut self.rights] {
            sets.retain(|_, set| {
                set.retain(|_, element| element.settle(&counts));
                !set.is_empty()
            });
        }
    }
}

impl Register {
    /// The later write. Two writes of one time are the work of a broken clock; the greater value
    /// wins then, so that all nodes decide alike.
    fn merge(&mut self, other: &Register) {
        if (&other.stamp, &other.value) > (&self.stamp, &self.value) {
            self.clone_from(other);
        }
    }
}

fn place<'a>(
    sets: &'a mut BTreeMap<String, Elements>,
    member: &str,
    element: &[u8],
) -> &'a mut Element {
    let set = sets.entry(member.to_owned()).or_default();
    set.entry(element.to_vec()).or_default()
}

fn merge_sets(own: &mut BTreeMap<String, Elements>, other: &BTreeMap<String, Elements>) {
    for (member, elements) in other {
        let set = own.entry(member.clone()).or_default();
        for (name, element) in elements {
            set.entry(name.clone()).or_default().merge(element);
        }
    }
}

fn sets_beyond(
    own: &BTreeMap<String, Elements>,
    base: &BTreeMap<String, Elements>,
) -> BTreeMap<String, Elements> {
    let nothing = Element::default();
    own.iter()
        .map(|(member, elements)| {
            let theirs = base.get(member);
            let beyond = elements
                .iter()
                .map(|(name, element)| {
                    let base = theirs.and_then(|set| set.get(name)).unwrap_or(&nothing);
                    (name.clone(), element.beyond(base))
                })
                .collect();
            (member.clone(), beyond)
        })
        .collect()
}
