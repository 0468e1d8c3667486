//! Deterministic mutations: the same seed gives the same inputs on every machine.

/// SplitMix64: small, and good enough to choose mutations with.
pub struct Chooser(u64);

impl Chooser {
    /// The sequence that begins with `seed`.
    pub fn new(seed: u64) -> Self {
        Chooser(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 for 0.
    pub fn below(&mut self, bound: usize) -> usize {
        match bound {
            0 => 0,
            // The bias of a remainder does not matter here.
            _ => (self.next() % bound as u64) as usize,
        }
    }
}

/// Longest input that mutations make, in bytes.
pub const MAX_LEN: usize = 8 * 1024;

/// A few changes to one of the seeds.
pub fn mutate(chooser: &mut Chooser, corpus: &[Vec<u8>], dictionary: &[&str]) -> Vec<u8> {
    let mut data = corpus[chooser.below(corpus.len())].clone();
    for _ in 0..=chooser.below(5) {
        change(chooser, &mut data, corpus, dictionary);
    }
    data.truncate(MAX_LEN);
    data
}

fn change(chooser: &mut Chooser, data: &mut Vec<u8>, corpus: &[Vec<u8>], dictionary: &[&str]) {
    const TELLING: &[u8] = b"\0\x01\x7f\x80\xff\"\\.,:{}[]=&%+-_ \t\nAa09";
    let at = chooser.below(data.len() + 1);
    let end = at + chooser.below((data.len() - at).min(64) + 1);
    match chooser.below(9) {
        0 if at < data.len() => data[at] ^= 1 << chooser.below(8),
        1 if at < data.len() => data[at] = TELLING[chooser.below(TELLING.len())],
        2 if at < data.len() => data[at] = chooser.below(256) as u8,
        3 => data.insert(at, TELLING[chooser.below(TELLING.len())]),
        4 => {
            data.drain(at..end);
        }
        5 => {
            let copy = data[at..end].to_vec();
            let to = chooser.below(data.len() + 1);
            data.splice(to..to, copy);
        }
        6 if !dictionary.is_empty() => {
            let word = dictionary[chooser.below(dictionary.len())];
            data.splice(at..at, word.bytes());
        }
        7 => {
            let other = &corpus[chooser.below(corpus.len())];
            let from = chooser.below(other.len() + 1);
            data.truncate(at);
            data.extend_from_slice(&other[from..]);
        }
        8 => data.truncate(at),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence() {
        let corpus = [b"one".to_vec(), b"{\"two\":2}".to_vec()];
        let draw = |seed| {
            let mut chooser = Chooser::new(seed);
            (0..1_000)
                .map(|_| mutate(&mut chooser, &corpus, &["word"]))
                .collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
