//! The line that travels: one flat object for each revocation, such as
//! `{"sub":"alice","epoch_ms":1795000000000,"end":1795003600}`.

use crate::Kind;

/// The value of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Member<'a> {
    /// A text.
    Text(&'a str),
    /// A number without fraction or exponent.
    Number(u64),
    /// Anything else.
    Other,
}

/// One line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line<'a> {
    /// what kind of subject it is about
    pub kind: Kind,
    /// its id as text: bytes are base64url
    pub id: &'a str,
    /// for the kinds that have one: everything issued up to this moment, Unix milliseconds
    pub epoch_ms: Option<u64>,
    /// Unix seconds at which the last token concerned has expired by itself
    pub end: u64,
}

const END: &str = "end";
const EPOCH: &str = "epoch_ms";

impl<'a> Line<'a> {
    /// None for whatever is not exactly one revocation of a known kind: what is not understood must
    /// not be taken for nothing.
    pub fn read(members: impl IntoIterator<Item = (&'a str, Member<'a>)>) -> Option<Line<'a>> {
        let (mut subject, mut epoch_ms, mut end) = (None, None, None);
        for (name, value) in members {
            let is_new = match (name, value) {
                (END, Member::Number(seconds)) => end.replace(seconds).is_none(),
                (EPOCH, Member::Number(moment)) => epoch_ms.replace(moment).is_none(),
                (name, Member::Text(id)) => subject.replace((Kind::of_member(name)?, id)).is_none(),
                (_, Member::Number(_) | Member::Other) => false,
            };
            if !is_new {
                return None;
            }
        }
        let (kind, id) = subject?;
        (kind.row().has_epoch == epoch_ms.is_some()).then_some(Line {
            kind,
            id,
            epoch_ms,
            end: end?,
        })
    }

    /// Its members, in the order in which they are written.
    pub fn members(self) -> impl Iterator<Item = (&'static str, Member<'a>)> {
        let subject = (self.kind.row().member, Member::Text(self.id));
        let epoch = self.epoch_ms.map(|moment| (EPOCH, Member::Number(moment)));
        let end = (END, Member::Number(self.end));
        [Some(subject), epoch, Some(end)].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KINDS;
    use Member::{Number, Other, Text};

    #[test]
    fn every_kind_is_read_as_it_was_written() {
        for row in KINDS {
            let line = Line {
                kind: row.kind,
                id: "id",
                epoch_ms: row.has_epoch.then_some(5),
                end: 9,
            };
            assert_eq!(Line::read(line.members()), Some(line));
        }
    }

    #[test]
    fn what_is_not_exactly_one_revocation_is_none() {
        for bad in [
            &[][..],
            &[("jti", Text("a"))],
            &[("end", Number(5))],
            &[("jti", Number(1)), ("end", Number(5))],
            &[("jti", Text("a")), ("end", Text("5"))],
            &[("jti", Text("a")), ("end", Other)],
            &[
                ("jti", Text("a")),
                ("epoch_ms", Number(1)),
                ("end", Number(5)),
            ],
            &[("sub", Text("a")), ("end", Number(5))],
            &[("jti", Text("a")), ("sid", Text("b")), ("end", Number(5))],
            &[("jti", Text("a")), ("jti", Text("a")), ("end", Number(5))],
            &[("jti", Text("a")), ("end", Number(5)), ("end", Number(5))],
            &[("device", Text("a")), ("end", Number(5))],
            &[("jti", Text("a")), ("end", Number(5)), ("more", Other)],
        ] {
            assert_eq!(Line::read(bad.iter().copied()), None, "{bad:?}");
        }
    }
}
