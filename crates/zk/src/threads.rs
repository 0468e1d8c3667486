//! Work on two cores: scoped threads whose panics go on in the caller.

/// Does both, the second in a thread of its own where there are two.
pub(crate) fn both<A, B: Send>(
    threads: usize,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads < 2 {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        (one(), join(other))
    })
}

/// A scoped thread's result: it has no way to panic of its own, and a panic goes on here.
pub(crate) fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
