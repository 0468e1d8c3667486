//! What the server asks its allocator for: a small library in C, loaded before glibc's allocator,
//! counts it in the release binary as it is.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{client::Failure, process::Server};

const SOURCE: &str = include_str!("../heap.c");

/// The counts of one moment, since the process began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Blocks that were given, or moved to grow.
    pub allocations: u64,
    /// Bytes of these blocks.
    pub asked: u64,
    /// Bytes of the blocks that are not freed.
    pub live: u64,
    /// The most of them that there was.
    pub peak: u64,
}

impl Counts {
    /// As the library writes them; None of less than four numbers.
    fn read(bytes: &[u8]) -> Option<Counts> {
        let (numbers, _) = bytes.as_chunks::<8>();
        let [allocations, asked, live, peak] = numbers.first_chunk()?.map(u64::from_ne_bytes);
        Some(Counts {
            allocations,
            asked,
            live,
            peak,
        })
    }
}

/// Where the counts of one server are.
pub struct Counter {
    directory: tempfile::TempDir,
}

impl Counter {
    /// Compiles the library and starts a server with it.
    ///
    /// # Errors
    /// No compiler of C, or a server that does not start.
    pub fn start() -> Result<(Server, Counter), Failure> {
        let directory = tempfile::tempdir()?;
        let library = library(directory.path())?;
        let file = directory.path().join(COUNTS);
        let variables = [("LD_PRELOAD", &*library), ("SIGNET_BENCH_HEAP", &*file)];
        let server = Server::with_environment(&variables)?;
        Ok((server, Counter { directory }))
    }

    /// The counts of now.
    ///
    /// # Errors
    /// The library is not at work.
    pub fn counts(&self) -> Result<Counts, Failure> {
        let bytes = std::fs::read(self.directory.path().join(COUNTS))?;
        Counts::read(&bytes).ok_or_else(|| "no counts of the heap".into())
    }
}

/// The file of the counts.
const COUNTS: &str = "counts";

fn library(directory: &Path) -> Result<PathBuf, Failure> {
    let (source, library) = (directory.join("heap.c"), directory.join("heap.so"));
    std::fs::write(&source, SOURCE)?;
    let output = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .output()
        .map_err(|_| "a compiler of C is needed: cc")?;
    if output.status.success() {
        return Ok(library);
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_as_a_program_asks_for_them_and_frees_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let library = library(directory.path()).expect("compiles");
        let program = directory.path().join("program.c");
        // 3,000 blocks of 100 bytes or a little more, one of which stays.
        std::fs::write(
            &program,
            "#include <stdlib.h>\nint main(void) { void *volatile b = malloc(100);\n\
             for (int i = 1; i < 3000; i++) { free(b); b = malloc(100); } return b == 0; }\n",
        )
        .expect("is written");
        let built = directory.path().join("program");
        let status = Command::new("cc")
            .args(["-O0", "-o"])
            .args([&built, &program])
            .status();
        assert!(status.expect("compiles").success());
        let file = directory.path().join("counts");
        let status = Command::new(&built)
            .env("LD_PRELOAD", &library)
            .env("SIGNET_BENCH_HEAP", &file)
            .status();
        assert!(status.expect("runs").success());
        let counts = Counts::read(&std::fs::read(&file).expect("counts")).expect("four");
        assert!((3_000..3_100).contains(&counts.allocations), "{counts:?}");
        assert!((300_000..500_000).contains(&counts.asked), "{counts:?}");
        // The C library has blocks of its own.
        assert!((100..200_000).contains(&counts.live), "{counts:?}");
        assert!(counts.peak >= counts.live, "{counts:?}");
    }

    #[test]
    fn half_a_file_is_no_counts() {
        assert_eq!(Counts::read(&[0; 31]), None);
        assert_eq!(Counts::read(&[0; 32]), Some(Counts::default()));
    }
}
