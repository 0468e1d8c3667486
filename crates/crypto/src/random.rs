/// Fills from a per-thread ChaCha generator seeded by the system, or from the system itself where the value is long-lived key material.
pub fn fill(_out: &mut [u8]) {
    todo!()
}
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut b = [0; N];
    fill(&mut b);
    b
}
/// A uniform number below `bound` (six-digit codes), without modulo bias.
pub fn below(_bound: u32) -> u32 {
    todo!()
}
