//! What a newcomer and a member say to each other.
use super::{ClusterId, Description};
use crate::member::{Fingerprint, Known, MemberError, NodeKeys};
use signet_cbor::{Decoder, Encoder};
use signet_crypto::{Algorithm, PublicKey, Secret, VerifyingKey};
use signet_store::NodeId;

/// Longest answer to a newcomer, in bytes.
pub(super) const MAX_WELCOME_BYTES: usize = 16 << 20;

/// A request: its content and two signatures over it, which prove that the newcomer holds the keys
/// it hands over.
pub(super) struct Request {
    pub(super) secret: Secret<[u8; 32]>,
    pub(super) wanted: Option<NodeId>,
    pub(super) keys: NodeKeys,
    pub(super) description: Description,
    /// What the rooms above say of the newcomer, by which theirs at the member judge it.
    pub(super) profile: Vec<u8>,
}

/// Longest profile of a newcomer, in bytes.
pub(super) const MAX_PROFILE_BYTES: usize = 4096;

const SIGNED: &[u8] = b"signet join request 1\0";

/// What is signed: never anything else, and never for another invitation.
fn signed(invitation: &[u8; 16], content: &[u8]) -> Vec<u8> {
    [SIGNED, invitation, content].concat()
}

impl Request {
    fn content(&self) -> Vec<u8> {
        // With room for all of it: growing would leave a copy of the secret behind.
        let mut out = Encoder::with_capacity(16 * 1024);
        out.array(9).uint(1).bytes(self.secret.expose());
        match &self.wanted {
            Some(node) => out.text(node.as_str()),
            None => out.null(),
        };
        self.keys.write(&mut out);
        let description = &self.description;
        out.array(description.addresses.len());
        for address in &description.addresses {
            out.text(address);
        }
        out.text(&description.url)
            .text(&description.zone)
            .bool(description.hub)
            .bytes(&self.profile);
        out.finish()
    }

    pub(super) fn to_bytes(
        &self,
        invitation: &[u8; 16],
        identity: &crate::identity::Identity,
    ) -> Result<Vec<u8>, signet_crypto::KeyError> {
        let content = self.content();
        let message = signed(invitation, &content);
        let (mut ed25519, mut ml_dsa) = (Vec::new(), Vec::new());
        identity.ed25519().sign_into(&message, &mut ed25519)?;
        identity.ml_dsa_65().sign_into(&message, &mut ml_dsa)?;
        let mut out = Encoder::with_capacity(content.len() + 4096);
        out.array(3).bytes(&content).bytes(&ed25519).bytes(&ml_dsa);
        Ok(out.finish())
    }

    /// `None`: malformed, or not signed by the keys in it.
    pub(super) fn from_bytes(invitation: &[u8; 16], bytes: &[u8]) -> Option<Request> {
        let (content, ed25519, ml_dsa) = Decoder::whole(bytes, |d| {
            d.tuple(3, |d| {
                Ok::<_, signet_cbor::Error>((d.bytes()?, d.bytes()?, d.bytes()?))
            })
        })
        .ok()?;
        let request = Decoder::whole(content, |d| {
            d.tuple(9, |d| {
                if d.uint()? != 1 {
                    return Err(signet_cbor::Error::WrongType.into());
                }
                let secret = Secret::new(d.fixed()?);
                let wanted = if d.peek()? == 7 {
                    d.null()?;
                    None
                } else {
                    Some(NodeId::parse(d.text()?).map_err(|_| MemberError::Text("name"))?)
                };
                Ok::<_, MemberError>(Request {
                    secret,
                    wanted,
                    keys: NodeKeys::read(d)?,
                    description: Description {
                        addresses: d.list(crate::member::MAX_ADDRESSES, |d| {
                            d.text().map(str::to_owned)
                        })?,
                        url: d.text()?.to_owned(),
                        zone: d.text()?.to_owned(),
                        hub: d.bool()?,
                    },
                    profile: d.bytes()?.to_vec(),
                })
            })
        })
        .ok()?;
        let keys = &request.keys;
        let message = signed(invitation, content);
        let holds = |algorithm, key: &PublicKey, signature: &[u8]| {
            VerifyingKey::new(algorithm, key)
                .is_ok_and(|key| key.verify(&message, signature).is_ok())
        };
        let first = PublicKey::Ed25519 { x: keys.ed25519 };
        let second = PublicKey::MlDsa {
            algorithm: Algorithm::MlDsa65,
            public: keys.ml_dsa_65.clone(),
        };
        let proven = holds(Algorithm::Ed25519, &first, ed25519)
            && holds(Algorithm::MlDsa65, &second, ml_dsa)
            && request.description.is_sound()
            && request.profile.len() <= MAX_PROFILE_BYTES;
        proven.then_some(request)
    }
}

/// Why a newcomer was not let in. The number is on the wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// 1: there is no such invitation, or it has expired.
    Unknown,
    /// 2: another node used it.
    Used,
    /// 3: the secret is not the invitation's.
    Forged,
    /// 4: another member has the wanted name.
    NameTaken,
    /// 5: the cluster has as many members as it may.
    Full,
    /// 6: the request makes no sense.
    Malformed,
    /// 8: a node with these keys was removed.
    Removed,
    /// 7: not now; why.
    Unavailable(String),
    /// 9: it is no node of this cluster as it is configured; why.
    Unfit(String),
}

/// The answer to a request.
pub(super) enum Answer {
    Refused(Refusal),
    Welcome {
        node: NodeId,
        cluster: ClusterId,
        members: Vec<(Fingerprint, Known)>,
        /// Sealed to the newcomer.
        package: Vec<u8>,
    },
}

fn part(bytes: &[u8], out: &mut Vec<u8>) {
    // Bounded far below 4 GiB by those who make them.
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

fn take_part<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    let (part, rest) = rest.split_at_checked(len)?;
    *bytes = rest;
    Some(part)
}

impl Answer {
    /// A number, and then parts with their lengths in front: the members and the package may be
    /// longer than one CBOR item.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let refusal = |number: u8| vec![number];
        match self {
            Answer::Refused(Refusal::Unknown) => refusal(1),
            Answer::Refused(Refusal::Used) => refusal(2),
            Answer::Refused(Refusal::Forged) => refusal(3),
            Answer::Refused(Refusal::NameTaken) => refusal(4),
            Answer::Refused(Refusal::Full) => refusal(5),
            Answer::Refused(Refusal::Malformed) => refusal(6),
            Answer::Refused(Refusal::Removed) => refusal(8),
            Answer::Refused(Refusal::Unavailable(why)) => {
                let mut out = refusal(7);
                out.extend_from_slice(why.as_bytes());
                out
            }
            Answer::Refused(Refusal::Unfit(why)) => {
                let mut out = refusal(9);
                out.extend_from_slice(why.as_bytes());
                out
            }
            Answer::Welcome {
                node,
                cluster,
                members,
                package,
            } => {
                let mut out = vec![0];
                part(node.as_str().as_bytes(), &mut out);
                part(cluster, &mut out);
                part(package, &mut out);
                for (fingerprint, known) in members {
                    part(&fingerprint.0, &mut out);
                    part(&known.to_bytes(), &mut out);
                }
                out
            }
        }
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Answer> {
        let (number, mut rest) = bytes.split_first()?;
        Some(Answer::Refused(match *number {
            0 => {
                let rest = &mut rest;
                let node = std::str::from_utf8(take_part(rest)?).ok()?;
                let node = NodeId::parse(node).ok()?;
                let cluster = take_part(rest)?.try_into().ok()?;
                let package = take_part(rest)?.to_vec();
                let mut members = Vec::new();
                while !rest.is_empty() {
                    let fingerprint = Fingerprint(take_part(rest)?.try_into().ok()?);
                    members.push((fingerprint, Known::from_bytes(take_part(rest)?).ok()?));
                }
                return Some(Answer::Welcome {
                    node,
                    cluster,
                    members,
                    package,
                });
            }
            1 => Refusal::Unknown,
            2 => Refusal::Used,
            3 => Refusal::Forged,
            4 => Refusal::NameTaken,
            5 => Refusal::Full,
            6 => Refusal::Malformed,
            7 => Refusal::Unavailable(String::from_utf8_lossy(rest).into_owned()),
            8 => Refusal::Removed,
            9 => Refusal::Unfit(String::from_utf8_lossy(rest).into_owned()),
            _ => return None,
        }))
    }
}

/// What the package is sealed for: this cluster and this identity.
pub(super) fn seal_context(cluster: &ClusterId, fingerprint: &Fingerprint) -> Vec<u8> {
    [
        b"signet join package 1\0".as_slice(),
        cluster,
        &fingerprint.0,
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identity;

    fn request(identity: &Identity, keys: &NodeKeys) -> Vec<u8> {
        let request = Request {
            secret: Secret::new([1; 32]),
            wanted: Some(NodeId::default()),
            keys: keys.clone(),
            description: Description::default(),
            profile: b"profile".to_vec(),
        };
        request.to_bytes(&[2; 16], identity).expect("signed")
    }

    #[test]
    fn a_newcomer_hands_over_keys_that_it_holds_only() {
        let (own, other) = (Identity::generate(), Identity::generate());
        let (own, other) = (own.expect("keys"), other.expect("keys"));
        let bytes = request(&own, own.public());
        let read = Request::from_bytes(&[2; 16], &bytes).expect("a request");
        assert_eq!(read.keys, *own.public());
        // For another invitation it is none.
        assert!(Request::from_bytes(&[3; 16], &bytes).is_none());
        for stolen in [
            NodeKeys {
                ed25519: other.public().ed25519,
                ..own.public().clone()
            },
            NodeKeys {
                ml_dsa_65: other.public().ml_dsa_65.clone(),
                ..own.public().clone()
            },
        ] {
            let bytes = request(&own, &stolen);
            assert!(Request::from_bytes(&[2; 16], &bytes).is_none());
        }
        for at in [0, 10, 3000, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(Request::from_bytes(&[2; 16], &changed).is_none(), "{at}");
        }
        for cut in [0, 1, bytes.len() - 1] {
            assert!(Request::from_bytes(&[2; 16], &bytes[..cut]).is_none());
        }
    }

    #[test]
    fn every_answer_reads_back() {
        let refusals = [
            Refusal::Unknown,
            Refusal::Used,
            Refusal::Forged,
            Refusal::NameTaken,
            Refusal::Full,
            Refusal::Malformed,
            Refusal::Removed,
            Refusal::Unavailable("why".into()),
            Refusal::Unfit("because".into()),
        ];
        for refusal in refusals {
            let bytes = Answer::Refused(refusal.clone()).to_bytes();
            let read = Answer::from_bytes(&bytes);
            assert!(matches!(read, Some(Answer::Refused(r)) if r == refusal));
        }
        let members = vec![(
            Fingerprint([1; 32]),
            Known::Removed {
                node: NodeId::default(),
                keys: crate::member::KeysId([2; 32]),
                at: signet_merge::hlc::Stamp {
                    ms: 1,
                    seq: 2,
                    node: NodeId::default(),
                },
            },
        )];
        let welcome = Answer::Welcome {
            node: NodeId::default(),
            cluster: [3; 16],
            members: members.clone(),
            package: vec![4; 100],
        };
        let bytes = welcome.to_bytes();
        match Answer::from_bytes(&bytes) {
            Some(Answer::Welcome {
                members: read,
                package,
                ..
            }) => {
                assert_eq!(read, members);
                assert_eq!(package, vec![4; 100]);
            }
            Some(Answer::Refused(_)) | None => panic!("a welcome"),
        }
        for cut in 0..bytes.len() {
            // Without its members it is whole, too: who joins looks for itself among them.
            let whole = matches!(Answer::from_bytes(&bytes[..cut]), Some(Answer::Welcome { members, .. }) if members.is_empty());
            assert!(
                whole || Answer::from_bytes(&bytes[..cut]).is_none(),
                "{cut}"
            );
        }
        assert!(Answer::from_bytes(&[10]).is_none());
    }
}
