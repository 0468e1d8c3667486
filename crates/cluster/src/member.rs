//! Who is in the cluster.
//!
//! An identity is a node's name together with its public keys; its fingerprint names it for ever.
//! [`Members`] holds what is known of each: a living one with its addresses, or that it was
//! removed. Both are states of a CRDT: of two descriptions the later one counts, and a removal
//! counts for ever, so order, repetition and loss are harmless. A name may come back with new keys:
//! that is another identity.
//!
//! Whose signature counts, who may connect and whose frames are heard is decided by this table and
//! nothing else. It is kept in a file of the node's own data directory, because a node must reach
//! its peers before it can reach a store that is replicated over them.
use signet_cbor::{Decoder, Encoder};
use signet_crypto::{
    Algorithm, PublicKey, VerifyingKey, hash::Sha256, kem::ENCAPSULATION_KEY_LEN,
    kem::EncapsulationKey, private_file,
};
use signet_merge::{entry::Entry, hlc::Stamp, tell::Believe};
use signet_store::NodeId;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
};
use tokio::sync::watch;

/// [`Entry::kind`] of what is announced about members; its name is the identity's fingerprint.
pub const KIND: u8 = 0;

/// The file within the data directory's folder `cluster`.
pub const MEMBERS_FILE: &str = "members";

/// Most living members of a cluster.
pub const MAX_MEMBERS: usize = 128;
/// Most addresses of a member.
pub const MAX_ADDRESSES: usize = 8;
/// Longest address, URL or zone of a member, in bytes.
pub const MAX_TEXT_BYTES: usize = 512;
/// Bytes of an encoded ML-DSA-65 public key (FIPS 204 table 2).
const ML_DSA_65_LEN: usize = 1952;

/// Names an identity: SHA-256 of the name and the public keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub [u8; 32]);

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As much as tells two apart in a log.
        self.0[..8].iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// Names a set of keys, whatever their owner is called: SHA-256 of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeysId(pub [u8; 32]);

/// The public halves of a node's keys, as bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeKeys {
    /// Ed25519 (RFC 8032), of what the node tells.
    pub ed25519: [u8; 32],
    /// ML-DSA-65 (FIPS 204), of the same.
    pub ml_dsa_65: Vec<u8>,
    /// ML-KEM-768 (FIPS 203), for what is sealed to the node.
    pub ml_kem_768: Vec<u8>,
    /// SHA-256 of the SubjectPublicKeyInfo of its TLS certificate.
    pub spki_sha256: [u8; 32],
}

/// Bytes that describe no member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MemberError {
    /// Not the one encoding of a member.
    #[error("the member cannot be read: {0}")]
    Encoding(#[from] signet_cbor::Error),
    /// A name, an address or a URL that is none, or too many of them.
    #[error("the member's {0} is not acceptable")]
    Text(&'static str),
    /// A key that is none.
    #[error("the member's keys cannot be used")]
    Keys,
}

impl NodeKeys {
    /// The identity that a node of this name has with these keys.
    pub fn fingerprint(&self, node: &NodeId) -> Fingerprint {
        let mut out = Encoder::new();
        out.array(2).text(node.as_str());
        self.write(&mut out);
        let mut hash = Sha256::new();
        hash.update(b"signet node identity 1\0");
        hash.update(&out.finish());
        Fingerprint(hash.finish())
    }

    /// What these keys are called.
    pub fn id(&self) -> KeysId {
        let mut out = Encoder::new();
        self.write(&mut out);
        let mut hash = Sha256::new();
        hash.update(b"signet node keys 1\0");
        hash.update(&out.finish());
        KeysId(hash.finish())
    }

    /// Appends the keys.
    pub fn write(&self, out: &mut Encoder) {
        out.array(4)
            .bytes(&self.ed25519)
            .bytes(&self.ml_dsa_65)
            .bytes(&self.ml_kem_768)
            .bytes(&self.spki_sha256);
    }

    /// Reads what [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// [`MemberError`].
    pub fn read(d: &mut Decoder<'_>) -> Result<NodeKeys, MemberError> {
        d.tuple(4, |d| {
            Ok(NodeKeys {
                ed25519: d.fixed()?,
                ml_dsa_65: d.fixed::<ML_DSA_65_LEN>()?.to_vec(),
                ml_kem_768: d.fixed::<ENCAPSULATION_KEY_LEN>()?.to_vec(),
                spki_sha256: d.fixed()?,
            })
        })
    }

    fn prepare(&self) -> Result<Prepared, MemberError> {
        let ed25519 = PublicKey::Ed25519 { x: self.ed25519 };
        let ml_dsa = PublicKey::MlDsa {
            algorithm: Algorithm::MlDsa65,
            public: self.ml_dsa_65.clone(),
        };
        let verifying = |algorithm, key: &PublicKey| {
            VerifyingKey::new(algorithm, key).map_err(|_| MemberError::Keys)
        };
        Ok(Prepared {
            ed25519: verifying(Algorithm::Ed25519, &ed25519)?,
            ml_dsa_65: verifying(Algorithm::MlDsa65, &ml_dsa)?,
            ml_kem_768: EncapsulationKey::from_bytes(&self.ml_kem_768)
                .map_err(|_| MemberError::Keys)?,
        })
    }
}

/// A member's public keys, ready for use.
#[derive(Debug)]
pub struct Prepared {
    /// Checks the first signature of what it tells.
    pub ed25519: VerifyingKey,
    /// Checks the second one.
    pub ml_dsa_65: VerifyingKey,
    /// Seals to it.
    pub ml_kem_768: EncapsulationKey,
}

/// What is known of a living member.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name.
    pub node: NodeId,
    /// Its keys.
    pub keys: NodeKeys,
    /// When it became a member.
    pub joined: Stamp,
    /// When the following was written; of two descriptions the later one counts.
    pub written: Stamp,
    /// Where its cluster listener can be reached, `host:port`, tried in turn.
    pub addresses: Vec<String>,
    /// Its public listener's, `https://host:port`.
    pub url: String,
    /// Where it stands, for spreading voters; may be empty.
    pub zone: String,
    /// Whether it relays for others (hub and spoke).
    pub hub: bool,
}

impl Member {
    /// Its identity.
    pub fn fingerprint(&self) -> Fingerprint {
        self.keys.fingerprint(&self.node)
    }

    fn check(&self) -> Result<(), MemberError> {
        let fits = |text: &str| text.len() <= MAX_TEXT_BYTES && !text.contains(char::is_control);
        if self.addresses.len() > MAX_ADDRESSES || !self.addresses.iter().all(|a| is_address(a)) {
            return Err(MemberError::Text("address"));
        }
        if !fits(&self.url) {
            return Err(MemberError::Text("URL"));
        }
        if !fits(&self.zone) {
            return Err(MemberError::Text("zone"));
        }
        Ok(())
    }
}

/// Whether this is `host:port`: a name, an IPv4 address or an IPv6 address in brackets, and a port
/// that is not 0.
pub fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let host_fits = match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .bytes()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_'))
        }
    };
    let digits = port.bytes().all(|c| c.is_ascii_digit());
    host_fits && digits && text.len() <= 260 && port.parse::<u16>().is_ok_and(|port| port != 0)
}

/// What is known of an identity: the fragment of an entry of kind [`KIND`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Known {
    /// It counts.
    Member(Box<Member>),
    /// It counts no more, ever, and neither do its keys under another name.
    Removed {
        /// The name that it had.
        node: NodeId,
        /// The keys that it had.
        keys: KeysId,
        /// When it was removed.
        at: Stamp,
    },
}

fn write_stamp(out: &mut Encoder, stamp: &Stamp) {
    out.array(3)
        .uint(stamp.ms)
        .uint(u64::from(stamp.seq))
        .text(stamp.node.as_str());
}

fn read_stamp(d: &mut Decoder<'_>) -> Result<Stamp, MemberError> {
    d.tuple(3, |d| {
        Ok(Stamp {
            ms: d.uint()?,
            seq: u32::try_from(d.uint()?).map_err(|_| signet_cbor::Error::TooLarge)?,
            node: read_node(d)?,
        })
    })
}

fn read_node(d: &mut Decoder<'_>) -> Result<NodeId, MemberError> {
    NodeId::parse(d.text()?).map_err(|_| MemberError::Text("name"))
}

fn read_text(d: &mut Decoder<'_>) -> Result<String, MemberError> {
    Ok(d.text()?.to_owned())
}

impl Known {
    /// The canonical encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Encoder::with_capacity(4096);
        match self {
            Known::Member(member) => {
                out.array(9).uint(1).text(member.node.as_str());
                member.keys.write(&mut out);
                write_stamp(&mut out, &member.joined);
                write_stamp(&mut out, &member.written);
                out.array(member.addresses.len());
                for address in &member.addresses {
                    out.text(address);
                }
                out.text(&member.url).text(&member.zone).bool(member.hub);
            }
            Known::Removed { node, keys, at } => {
                out.array(4).uint(2).text(node.as_str()).bytes(&keys.0);
                write_stamp(&mut out, at);
            }
        }
        out.finish()
    }

    /// Reads the canonical encoding, and nothing else.
    ///
    /// # Errors
    /// [`MemberError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Known, MemberError> {
        Decoder::whole(bytes, |d| {
            let items = d.array()?;
            d.nested(|d| match (d.uint()?, items) {
                (1, 9) => {
                    let member = Member {
                        node: read_node(d)?,
                        keys: NodeKeys::read(d)?,
                        joined: read_stamp(d)?,
                        written: read_stamp(d)?,
                        addresses: d.list(MAX_ADDRESSES, read_text)?,
                        url: read_text(d)?,
                        zone: read_text(d)?,
                        hub: d.bool()?,
                    };
                    member.check()?;
                    Ok(Known::Member(Box::new(member)))
                }
                (2, 4) => Ok(Known::Removed {
                    node: read_node(d)?,
                    keys: KeysId(d.fixed()?),
                    at: read_stamp(d)?,
                }),
                _ => Err(MemberError::Encoding(signet_cbor::Error::WrongType)),
            })
        })
    }

    /// The least upper bound of two states of one identity.
    pub(crate) fn merge(self, other: Known) -> Known {
        match (self, other) {
            (
                Known::Removed { node, keys, at },
                Known::Removed {
                    node: other_node,
                    keys: other_keys,
                    at: other_at,
                },
            ) => Known::Removed {
                // Of one identity both are the same.
                node: node.min(other_node),
                keys: keys.min(other_keys),
                at: at.min(other_at),
            },
            (removed @ Known::Removed { .. }, Known::Member(_))
            | (Known::Member(_), removed @ Known::Removed { .. }) => removed,
            (Known::Member(a), Known::Member(b)) => {
                let joined = a.joined.clone().min(b.joined.clone());
                // Two descriptions of one moment: the same one is chosen everywhere.
                let key = |m: &Member| {
                    let text = (m.addresses.clone(), m.url.clone(), m.zone.clone(), m.hub);
                    (m.written.clone(), text)
                };
                let later = if key(&a) >= key(&b) { a } else { b };
                Known::Member(Box::new(Member { joined, ..*later }))
            }
        }
    }

    /// The entry that announces it.
    pub fn entry(&self, fingerprint: Fingerprint) -> Entry {
        Entry {
            realm: String::new(),
            kind: KIND,
            name: fingerprint.0.to_vec(),
            fragment: self.to_bytes(),
            end: None,
        }
    }

    /// Reads an entry of kind [`KIND`].
    ///
    /// # Errors
    /// [`MemberError`], also for a member under another identity's fingerprint.
    pub fn from_entry(entry: &Entry) -> Result<(Fingerprint, Known), MemberError> {
        let known = Known::from_bytes(&entry.fragment)?;
        let name = entry.name.as_slice().try_into();
        let fingerprint = Fingerprint(name.map_err(|_| MemberError::Text("fingerprint"))?);
        let fits = match &known {
            Known::Member(member) => member.fingerprint() == fingerprint,
            // Of the keys of what was removed only their id is kept.
            Known::Removed { .. } => true,
        };
        if entry.kind != KIND || !entry.realm.is_empty() || entry.end.is_some() || !fits {
            return Err(MemberError::Text("fingerprint"));
        }
        Ok((fingerprint, known))
    }
}

/// A living member with its keys ready for use.
#[derive(Clone, Debug)]
pub struct Living {
    /// What is known of it.
    pub member: Arc<Member>,
    /// Its keys.
    pub keys: Arc<Prepared>,
    /// Its identity.
    pub fingerprint: Fingerprint,
}

#[derive(Default)]
struct Table {
    known: BTreeMap<Fingerprint, Known>,
    prepared: HashMap<Fingerprint, Arc<Prepared>>,
    by_name: BTreeMap<NodeId, Living>,
    by_spki: HashMap<[u8; 32], NodeId>,
    removed_keys: HashSet<KeysId>,
}

impl Table {
    /// Merges; whether anything changed.
    fn merge(&mut self, fingerprint: Fingerprint, known: Known) -> Result<bool, MemberError> {
        let before = self.known.get(&fingerprint);
        if let (None, Known::Member(member)) = (before, &known) {
            if self.by_name.len() >= MAX_MEMBERS {
                return Err(MemberError::Text("number"));
            }
            let keys = member.keys.prepare()?;
            self.prepared.insert(fingerprint, Arc::new(keys));
        }
        let after = match before {
            Some(before) => before.clone().merge(known),
            None => known,
        };
        if self.known.get(&fingerprint) == Some(&after) {
            return Ok(false);
        }
        if matches!(after, Known::Removed { .. }) {
            self.prepared.remove(&fingerprint);
        }
        self.known.insert(fingerprint, after);
        self.index();
        Ok(true)
    }

    fn index(&mut self) {
        self.by_name.clear();
        self.by_spki.clear();
        let mut living: Vec<(&Member, Fingerprint)> = Vec::new();
        self.removed_keys.clear();
        for (fingerprint, known) in &self.known {
            match known {
                Known::Member(member) => living.push((member, *fingerprint)),
                Known::Removed { keys, .. } => drop(self.removed_keys.insert(*keys)),
            }
        }
        living.retain(|(member, _)| !self.removed_keys.contains(&member.keys.id()));
        // Two identities of one name can only come of a store that decided twice; the same one
        // counts on every node.
        living.sort_by(|a, b| (&a.0.joined, a.1).cmp(&(&b.0.joined, b.1)));
        for (member, fingerprint) in living {
            let Some(keys) = self.prepared.get(&fingerprint) else {
                continue;
            };
            let spki = member.keys.spki_sha256;
            if self.by_name.contains_key(&member.node) || self.by_spki.contains_key(&spki) {
                continue;
            }
            let living = Living {
                member: Arc::new(member.clone()),
                keys: keys.clone(),
                fingerprint,
            };
            self.by_spki.insert(spki, member.node.clone());
            self.by_name.insert(member.node.clone(), living);
        }
    }
}

/// The table of members, shared by everything that asks who somebody is.
pub struct Members {
    table: RwLock<Table>,
    file: Mutex<Option<PathBuf>>,
    changed: watch::Sender<u64>,
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Members {
    /// A table in memory.
    pub fn new() -> Members {
        Members {
            table: RwLock::default(),
            file: Mutex::new(None),
            changed: watch::Sender::new(0),
        }
    }

    /// The table that a data directory keeps (`cluster/members`), empty where the directory has
    /// none yet. Every later change is written there before anybody hears of it.
    ///
    /// # Errors
    /// If the file cannot be read, or is not what was written.
    pub fn open(directory: &Path) -> io::Result<Members> {
        let path = directory.join("cluster").join(MEMBERS_FILE);
        let members = Members::new();
        match std::fs::read(&path) {
            Ok(bytes) => {
                let mut table = members
                    .table
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                read_file(&bytes, &mut table).ok_or_else(|| {
                    let text = format!("{} is not a list of members", path.display());
                    io::Error::new(io::ErrorKind::InvalidData, text)
                })?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        *members.file.lock().unwrap_or_else(PoisonError::into_inner) = Some(path);
        Ok(members)
    }

    /// Merges what is known of an identity; whether that changed anything. What cannot be written
    /// to the file is logged and counts all the same: a removal is not undone by a full disk.
    ///
    /// # Errors
    /// [`MemberError`], and then nothing has changed.
    pub fn merge(&self, fingerprint: Fingerprint, known: Known) -> Result<bool, MemberError> {
        // Held over the file: two changes are not written in the wrong order.
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            if !table.merge(fingerprint, known)? {
                return Ok(false);
            }
            file.as_ref().map(|_| write_file(&table))
        };
        if let (Some(path), Some(bytes)) = (file.as_ref(), bytes)
            && let Err(error) = keep(path, &bytes)
        {
            tracing::error!(path = %path.display(), %error, "failed to write the members file");
        }
        drop(file);
        self.changed.send_modify(|n| *n += 1);
        Ok(true)
    }

    /// Merges an entry of kind [`KIND`]; whether that changed anything.
    ///
    /// # Errors
    /// [`MemberError`], and then nothing has changed.
    pub fn believe(&self, entry: &Entry) -> Result<bool, MemberError> {
        let (fingerprint, known) = Known::from_entry(entry)?;
        self.merge(fingerprint, known)
    }

    /// Whether an entry of kind [`KIND`] says what is known, neither less nor more.
    pub fn is_current(&self, entry: &Entry) -> bool {
        Known::from_entry(entry).is_ok_and(|(fingerprint, known)| {
            self.read(|table| table.known.get(&fingerprint) == Some(&known))
        })
    }

    /// Everything that is known, as a joining node receives it.
    pub fn entries(&self) -> Vec<Entry> {
        self.read(|table| {
            let known = table.known.iter();
            known
                .map(|(fingerprint, k)| k.entry(*fingerprint))
                .collect()
        })
    }

    /// All identities and what is known of them.
    pub fn identities(&self) -> Vec<(Fingerprint, Known)> {
        self.read(|table| {
            let known = table.known.iter();
            known.map(|(f, k)| (*f, k.clone())).collect()
        })
    }

    /// Whether a member has this name, or one had it that was removed.
    pub fn had_name(&self, name: &NodeId) -> bool {
        self.read(|table| {
            table.known.values().any(|known| match known {
                Known::Member(member) => member.node == *name,
                Known::Removed { node, .. } => node == name,
            })
        })
    }

    /// Whether a node with these keys was removed, whatever it was called.
    pub fn was_removed(&self, keys: &NodeKeys) -> bool {
        let id = keys.id();
        self.read(|table| table.removed_keys.contains(&id))
    }

    /// The living member of this name.
    pub fn find(&self, node: &NodeId) -> Option<Living> {
        self.read(|table| table.by_name.get(node).cloned())
    }

    /// The living member whose TLS key this is.
    pub fn by_spki(&self, spki_sha256: &[u8; 32]) -> Option<NodeId> {
        self.read(|table| table.by_spki.get(spki_sha256).cloned())
    }

    /// What is known of an identity, also of a removed one.
    pub fn known(&self, fingerprint: &Fingerprint) -> Option<Known> {
        self.read(|table| table.known.get(fingerprint).cloned())
    }

    /// The living members in order of their names.
    pub fn all(&self) -> Vec<Living> {
        self.read(|table| table.by_name.values().cloned().collect())
    }

    /// The names of the living members, in order.
    pub fn names(&self) -> Vec<NodeId> {
        self.read(|table| table.by_name.keys().cloned().collect())
    }

    /// The removal of the living member of this name, to be announced and merged: its keys count no
    /// more wherever it is known.
    pub fn removal(&self, node: &NodeId, at: Stamp) -> Option<(Fingerprint, Known)> {
        let living = self.find(node)?;
        let node = node.clone();
        let keys = living.member.keys.id();
        Some((living.fingerprint, Known::Removed { node, keys, at }))
    }

    /// Counts changes: wakes whoever depends on who is a member.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn read<T>(&self, look: impl FnOnce(&Table) -> T) -> T {
        look(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Entries of kind [`KIND`]; of others nothing is said here.
impl Believe for Members {
    fn believe(&self, origin: &NodeId, entries: &[Entry]) {
        for entry in entries.iter().filter(|entry| entry.kind == KIND) {
            if let Err(error) = Members::believe(self, entry) {
                tracing::warn!(%origin, %error, "rejected a statement about a member");
            }
        }
    }

    fn is_current(&self, entry: &Entry) -> bool {
        Members::is_current(self, entry)
    }
}

impl Default for Members {
    fn default() -> Members {
        Members::new()
    }
}

/// Each: the fingerprint, four bytes of length, the state.
fn write_file(table: &Table) -> Vec<u8> {
    let mut out = Vec::new();
    for (fingerprint, known) in &table.known {
        let bytes = known.to_bytes();
        out.extend_from_slice(&fingerprint.0);
        // Far below 4 GiB: names and keys are bounded.
        out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(&bytes);
    }
    out
}

fn read_file(mut bytes: &[u8], table: &mut Table) -> Option<()> {
    while !bytes.is_empty() {
        let (fingerprint, rest) = bytes.split_first_chunk::<32>()?;
        let (len, rest) = rest.split_first_chunk::<4>()?;
        let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
        let (state, rest) = rest.split_at_checked(len)?;
        let known = Known::from_bytes(state).ok()?;
        table.merge(Fingerprint(*fingerprint), known).ok()?;
        bytes = rest;
    }
    Some(())
}

fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private_file::directory(folder)?;
    }
    private_file::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    fn node(name: &str) -> NodeId {
        NodeId::parse(name).expect(name)
    }

    fn stamp(ms: u64) -> Stamp {
        Stamp {
            ms,
            seq: 0,
            node: node("a"),
        }
    }

    fn member(identity: &Identity, name: &str, ms: u64) -> Member {
        Member {
            node: node(name),
            keys: identity.public().clone(),
            joined: stamp(ms),
            written: stamp(ms),
            addresses: vec!["127.0.0.1:9443".into(), "[::1]:9443".into()],
            url: "https://localhost:8443".into(),
            zone: "z".into(),
            hub: true,
        }
    }

    fn put(members: &Members, known: Known, fingerprint: Fingerprint) -> bool {
        members.merge(fingerprint, known).expect("merged")
    }

    #[test]
    fn what_is_known_has_one_encoding() {
        let identity = Identity::generate().expect("keys");
        let member = Box::new(member(&identity, "a", 1));
        let removed = Known::Removed {
            node: node("a"),
            keys: identity.public().id(),
            at: stamp(2),
        };
        for known in [Known::Member(member), removed] {
            let bytes = known.to_bytes();
            assert_eq!(Known::from_bytes(&bytes), Ok(known));
            for cut in [0, 1, bytes.len() - 1] {
                assert!(Known::from_bytes(&bytes[..cut]).is_err());
            }
            let longer = [bytes.as_slice(), &[0]].concat();
            assert!(Known::from_bytes(&longer).is_err());
        }
    }

    #[test]
    fn a_member_stands_under_its_own_fingerprint_only() {
        let (one, other) = (Identity::generate(), Identity::generate());
        let (one, other) = (one.expect("keys"), other.expect("keys"));
        let known = Known::Member(Box::new(member(&one, "a", 1)));
        let entry = known.entry(other.fingerprint(&node("a")));
        assert!(Known::from_entry(&entry).is_err());
        // The same keys under another name are another identity.
        assert_ne!(one.fingerprint(&node("a")), one.fingerprint(&node("b")));
        let entry = known.entry(one.fingerprint(&node("a")));
        assert!(Known::from_entry(&entry).is_ok());
    }

    #[test]
    fn any_order_and_repetition_gives_the_same_table() {
        let identity = Identity::generate().expect("keys");
        let fingerprint = identity.fingerprint(&node("a"));
        let first = member(&identity, "a", 1);
        let mut moved = first.clone();
        moved.written = stamp(5);
        moved.addresses = vec!["db:1".into()];
        let mut rival = moved.clone();
        rival.url = "https://other".into();
        let removed = |ms| Known::Removed {
            node: node("a"),
            keys: identity.public().id(),
            at: stamp(ms),
        };
        let living = [first, moved, rival].map(|m| Known::Member(Box::new(m)));
        let sets: [Vec<Known>; 2] = [
            living.to_vec(),
            [living.as_slice(), &[removed(9), removed(7)]].concat(),
        ];
        for states in sets {
            let mut ends = Vec::new();
            for rotation in 0..states.len() {
                for reversed in [false, true] {
                    let mut order = states.clone();
                    order.rotate_left(rotation);
                    if reversed {
                        order.reverse();
                    }
                    let members = Members::new();
                    for known in order.iter().chain(&order) {
                        put(&members, known.clone(), fingerprint);
                    }
                    let said: Vec<bool> = order
                        .into_iter()
                        .map(|known| put(&members, known, fingerprint))
                        .collect();
                    assert!(said.iter().all(|changed| !changed));
                    ends.push(members.known(&fingerprint));
                }
            }
            assert!(ends.iter().all(|end| *end == ends[0]));
        }
    }

    #[test]
    fn a_removed_identity_counts_no_more_and_its_name_may_return_with_new_keys() {
        let (old, new) = (Identity::generate(), Identity::generate());
        let (old, new) = (old.expect("keys"), new.expect("keys"));
        let directory = tempfile::tempdir().expect("a directory");
        let members = Members::open(directory.path()).expect("opened");
        let mut changes = members.changes();
        let name = node("a");
        let first = old.fingerprint(&name);
        put(
            &members,
            Known::Member(Box::new(member(&old, "a", 1))),
            first,
        );
        assert!(changes.has_changed().expect("a table"));
        changes.mark_unchanged();
        let spki = old.public().spki_sha256;
        assert_eq!(members.by_spki(&spki), Some(name.clone()));

        let (fingerprint, removal) = members.removal(&name, stamp(2)).expect("there");
        assert!(put(&members, removal.clone(), fingerprint));
        assert!(changes.has_changed().expect("a table"));
        // However late its description says it was written.
        let mut later = member(&old, "a", 1);
        later.written = stamp(1 << 50);
        assert!(!put(&members, Known::Member(Box::new(later)), first));
        assert_eq!(members.by_spki(&spki), None);
        assert!(members.find(&name).is_none());
        assert!(members.is_current(&removal.entry(first)));

        // Nor do its keys count under another name.
        assert!(members.was_removed(old.public()));
        let other = member(&old, "b", 4);
        put(
            &members,
            Known::Member(Box::new(other.clone())),
            other.fingerprint(),
        );
        assert!(members.find(&node("b")).is_none());
        assert_eq!(members.by_spki(&spki), None);

        let second = new.fingerprint(&name);
        put(
            &members,
            Known::Member(Box::new(member(&new, "a", 3))),
            second,
        );
        let found = members.find(&name).expect("back");
        assert_eq!(found.member.keys, *new.public());

        // All of it outlives the process.
        let again = Members::open(directory.path()).expect("opened");
        assert_eq!(again.entries(), members.entries());
        assert_eq!(again.names(), [name]);
        assert_eq!(again.by_spki(&spki), None);
    }

    #[test]
    fn addresses_are_hosts_with_ports() {
        for address in ["a:1", "a.b-c_d:65535", "127.0.0.1:80", "[::1]:443"] {
            assert!(is_address(address), "{address}");
        }
        for address in [
            "", ":1", "a", "a:", "a:0", "a:65536", "a:+1", "::1:80", "a b:1", "[a]:1", "a/b:1",
        ] {
            assert!(!is_address(address), "{address}");
        }
    }
}
