//! Groups are a forest: none is inside itself, and none is deeper than it may be.
use signet_oauth::people::MAX_GROUP_DEPTH;
use std::collections::HashMap;

/// Why groups are no forest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ForestFault {
    /// A group would be inside itself.
    Circle,
    /// A way through them would be longer than it may be.
    TooDeep,
}

/// Whether the groups are a forest with the changed one in its new place, and no way through it is
/// longer than it may be. `all`: each group's parent.
///
/// # Errors
/// What they are instead.
pub fn check_forest(all: &HashMap<&str, Option<&str>>, changed: &str) -> Result<(), ForestFault> {
    let up = |from: &str| {
        let mut way = 1;
        let mut next = all.get(from).copied().flatten();
        let mut meets = from == changed;
        while let Some(name) = next {
            way += 1;
            if name == from || way > MAX_GROUP_DEPTH + 1 {
                return (way, meets, name == from);
            }
            meets |= name == changed;
            next = all.get(name).copied().flatten();
        }
        (way, meets, false)
    };
    if up(changed).2 {
        return Err(ForestFault::Circle);
    }
    for name in all.keys() {
        let (way, meets, _) = up(name);
        if meets && way > MAX_GROUP_DEPTH {
            return Err(ForestFault::TooDeep);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What follows the rules one change at a time.
    fn accepts(parents: &mut HashMap<String, Option<String>>, name: &str, parent: &str) -> bool {
        let mut all: HashMap<&str, Option<&str>> = parents
            .iter()
            .map(|(name, parent)| (name.as_str(), parent.as_deref()))
            .collect();
        all.insert(name, Some(parent));
        let fits = check_forest(&all, name).is_ok();
        if fits {
            parents.insert(name.to_owned(), Some(parent.to_owned()));
        }
        fits
    }

    proptest! {
        /// Whatever is tried in whatever order: no group is ever inside itself, and none is deeper
        /// than it may be.
        #[test]
        fn no_order_of_changes_makes_a_circle(moves in proptest::collection::vec((0..14_u8, 0..14_u8), 0..200)) {
            let mut parents: HashMap<String, Option<String>> =
                (0..14).map(|i: u8| (i.to_string(), None)).collect();
            for (name, parent) in moves {
                accepts(&mut parents, &name.to_string(), &parent.to_string());
                for start in parents.keys() {
                    let mut steps = 1;
                    let mut next = parents[start].as_ref();
                    while let Some(name) = next {
                        steps += 1;
                        prop_assert!(steps <= MAX_GROUP_DEPTH, "{start} is too deep, or in itself");
                        next = parents[name].as_ref();
                    }
                }
            }
        }
    }

    #[test]
    fn a_group_goes_into_no_group_that_is_inside_it() {
        let mut parents: HashMap<String, Option<String>> = ["a", "b", "c"]
            .iter()
            .map(|n| ((*n).to_owned(), None))
            .collect();
        assert!(!accepts(&mut parents, "a", "a"));
        assert!(accepts(&mut parents, "b", "a"));
        assert!(accepts(&mut parents, "c", "b"));
        assert!(!accepts(&mut parents, "a", "c"));
        assert!(!accepts(&mut parents, "a", "b"));
    }

    #[test]
    fn a_group_with_others_in_it_goes_no_deeper_than_they_may_be() {
        let names: Vec<String> = (0..9).map(|i| i.to_string()).collect();
        let mut parents: HashMap<String, Option<String>> =
            names.iter().map(|name| (name.clone(), None)).collect();
        // Two chains of four and five.
        for pair in [(1, 0), (2, 1), (3, 2), (5, 4), (6, 5), (7, 6), (8, 7)] {
            assert!(accepts(&mut parents, &names[pair.0], &names[pair.1]));
        }
        assert!(!accepts(&mut parents, "4", "3"), "nine deep");
        assert!(accepts(&mut parents, "4", "2"), "eight deep");
    }
}
