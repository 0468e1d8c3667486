//! Who votes: the nodes decide it themselves.
//!
//! One of one, both of two, three of three or four, five of more. With two voters a change needs
//! both, so losing either stops changes until it is back or the other one is recovered: two nodes
//! keep two copies, and only three keep going. An even number above two tolerates no more losses
//! than the odd one below it, so it is not used.
use std::collections::{BTreeMap, BTreeSet};

/// Most nodes that vote
pub(crate) const MAX_VOTERS: usize = 5;

/// What the leader knows of a member.
pub(crate) struct Candidate {
    pub(crate) number: u64,
    pub(crate) zone: Option<String>,
    pub(crate) votes: bool,
    /// It answers, and its log is nearly the leader's.
    pub(crate) ready: bool,
    /// It has not answered for so long that another one should vote in its place.
    pub(crate) gone: bool,
}

fn target(members: usize) -> usize {
    match members {
        0 | 1 => 1,
        2 => 2,
        3 | 4 => 3,
        _ => MAX_VOTERS,
    }
}

/// Who should vote, as the leader `me` sees it. Voters stay where nothing speaks against them.
pub(crate) fn choose(me: u64, members: &[Candidate]) -> BTreeSet<u64> {
    let target = target(members.len());
    let mut chosen: Vec<&Candidate> = members.iter().filter(|m| m.votes).collect();
    let before = chosen.len();
    let crowd = |chosen: &[&Candidate]| {
        let mut crowd: BTreeMap<Option<String>, usize> = BTreeMap::new();
        for member in chosen {
            *crowd.entry(member.zone.clone()).or_default() += 1;
        }
        crowd
    };
    // From the fullest zone, the youngest first; who is gone before all others.
    while chosen.len() > target {
        let crowd = crowd(&chosen);
        let leaves = chosen
            .iter()
            .enumerate()
            .filter(|(_, member)| member.number != me)
            .max_by_key(|(_, m)| (m.gone, crowd.get(&m.zone).copied(), m.number))
            .map(|(place, _)| place);
        match leaves {
            Some(place) => drop(chosen.remove(place)),
            None => break,
        }
    }
    let mut others: Vec<&Candidate> = members.iter().filter(|m| !m.votes && m.ready).collect();
    // To the emptiest zone, the eldest first.
    let mut next = |chosen: &[&Candidate]| {
        let crowd = crowd(chosen);
        let place = others
            .iter()
            .enumerate()
            .min_by_key(|(_, m)| (crowd.get(&m.zone).copied().unwrap_or(0), m.number))
            .map(|(place, _)| place)?;
        Some(others.remove(place))
    };
    // One at a time: a change of voters needs a majority of the old ones, too.
    let gone = |m: &&Candidate| m.gone && m.number != me;
    if let Some(place) = chosen.iter().position(gone)
        && chosen.len() > 2
        && let Some(better) = next(&chosen)
    {
        chosen[place] = better;
    }
    // A zone with two voters more than another one's gives one up to it, once all places are taken.
    let mut crowded: Vec<usize> = (0..chosen.len())
        .filter(|place| chosen[*place].number != me && chosen[*place].zone.is_some())
        .collect();
    let crowd_now = crowd(&chosen);
    let size = |zone: &Option<String>| crowd_now.get(zone).copied().unwrap_or(0);
    crowded.sort_by_key(|place| (size(&chosen[*place].zone), chosen[*place].number));
    if chosen.len() == target
        && let Some(place) = crowded.pop()
        && let Some(better) = next(&chosen)
        && better.zone.is_some()
        && size(&chosen[place].zone) > size(&better.zone) + 1
    {
        chosen[place] = better;
    }
    while chosen.len() < target
        && let Some(member) = next(&chosen)
    {
        chosen.push(member);
    }
    if chosen.len() > 2 && chosen.len().is_multiple_of(2) && chosen.len() > before {
        chosen.pop();
    }
    chosen.iter().map(|member| member.number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(number: u64, zone: &str, votes: bool) -> Candidate {
        Candidate {
            number,
            zone: (!zone.is_empty()).then(|| zone.to_owned()),
            votes,
            ready: true,
            gone: false,
        }
    }

    fn chosen(me: u64, members: &[Candidate]) -> Vec<u64> {
        choose(me, members).into_iter().collect()
    }

    #[test]
    fn three_or_five_vote_both_of_two_and_one_alone() {
        let grow = |count| {
            let members: Vec<_> = (1..=count).map(|n| member(n, "", n == 1)).collect();
            chosen(1, &members).len()
        };
        let counts: Vec<usize> = (1..=8).map(grow).collect();
        assert_eq!(counts, [1, 2, 3, 3, 5, 5, 5, 5]);
    }

    #[test]
    fn voters_are_spread_over_zones() {
        let members = [
            member(1, "a", true),
            member(2, "a", false),
            member(3, "b", false),
            member(4, "c", false),
        ];
        assert_eq!(chosen(1, &members), [1, 3, 4]);
        // A zone that comes later gets the place of one that stands in a full one.
        let members = [
            member(1, "a", true),
            member(2, "a", true),
            member(3, "b", true),
            member(4, "c", false),
            member(5, "b", false),
        ];
        assert_eq!(chosen(1, &members[..4]), [1, 3, 4]);
        assert_eq!(chosen(2, &members[..4]), [2, 3, 4]);
        assert_eq!(chosen(1, &members), [1, 2, 3, 4, 5]);
        // One of the full zone leaves when there are too many, and never the leader.
        let mut members = [1, 2, 3, 4, 5].map(|n| member(n, "a", true)).into_iter();
        let mut four: Vec<_> = members.by_ref().take(4).collect();
        four[0].zone = Some("b".into());
        assert_eq!(chosen(4, &four), [1, 2, 4]);
    }

    #[test]
    fn who_is_not_ready_does_not_vote_yet_and_no_even_number_above_two_does() {
        let mut members: Vec<_> = (1..=5).map(|n| member(n, "", n == 1)).collect();
        members[4].ready = false;
        assert_eq!(chosen(1, &members), [1, 2, 3]);
        members[2].ready = false;
        members[3].ready = false;
        assert_eq!(chosen(1, &members), [1, 2]);
    }

    #[test]
    fn a_voter_that_is_gone_is_replaced_where_another_is_ready() {
        let mut members: Vec<_> = (1..=4).map(|n| member(n, "", n < 4)).collect();
        members[1].gone = true;
        members[1].ready = false;
        assert_eq!(chosen(1, &members), [1, 3, 4]);
        members[3].ready = false;
        assert_eq!(chosen(1, &members), [1, 2, 3]);
    }
}
