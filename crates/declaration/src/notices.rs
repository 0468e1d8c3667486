//! What the system says of folders as it happens (inotify). Where it says nothing, because it
//! cannot, or because the file system is not this machine's, files are looked at in turns.

#[cfg(target_os = "linux")]
pub(crate) use linux::Notices;
#[cfg(not(target_os = "linux"))]
pub(crate) use nothing::Notices;

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;
    use std::collections::BTreeSet;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::PathBuf;
    use tokio::io::unix::AsyncFd;

    /// Folders that the system gives notice of.
    pub(crate) struct Notices {
        inotify: AsyncFd<OwnedFd>,
        /// Files that somebody has written to and not closed: their folder, and their name.
        writing: BTreeSet<(i32, Vec<u8>)>,
    }

    /// What begins with a full stop is an editor's, but for the link by which kubelet swaps all
    /// files of a ConfigMap.
    fn counts(name: &[u8]) -> bool {
        !name.starts_with(b".") || name == b"..data"
    }

    impl Notices {
        /// None where the system cannot, or has no more of these for us.
        pub(crate) fn of(folders: &[PathBuf]) -> Option<Notices> {
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let asked = WatchFlags::CREATE
                | WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::DELETE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR;
            for folder in folders {
                match inotify::add_watch(&inotify, folder, asked) {
                    // It is gone already, or may not be read: that is seen where it is read.
                    Ok(_) | Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => {}
                    Err(_) => return None,
                }
            }
            #[expect(
                deprecated,
                reason = "sound for an OwnedFd, which stays open and the same while it is registered; what takes its place is unsafe to call"
            )]
            let inotify = AsyncFd::new(inotify).ok()?;
            Some(Notices {
                inotify,
                writing: BTreeSet::new(),
            })
        }

        /// Whether somebody writes to a file at this moment.
        pub(crate) fn is_writing(&self) -> bool {
            !self.writing.is_empty()
        }

        /// Waits for the next change, and takes every one that there is.
        pub(crate) async fn next(&mut self) {
            loop {
                let Ok(mut ready) = self.inotify.readable().await else {
                    // Files are looked at all the same.
                    return std::future::pending().await;
                };
                let taken = take(self.inotify.get_ref(), &mut self.writing);
                ready.clear_ready();
                if taken {
                    return;
                }
            }
        }
    }

    /// Takes what there is; whether any of it counts.
    fn take(inotify: &OwnedFd, writing: &mut BTreeSet<(i32, Vec<u8>)>) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(inotify, &mut buffer);
        let mut found = false;
        // It ends where there is nothing more.
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| name.to_bytes().to_vec());
            let name = name.unwrap_or_default();
            if !counts(&name) {
                continue;
            }
            found = true;
            let events = event.events();
            let file = (event.wd(), name);
            let is_over = ReadFlags::CLOSE_WRITE | ReadFlags::MOVED_FROM | ReadFlags::DELETE;
            if events.intersects(is_over) {
                writing.remove(&file);
            } else if events.contains(ReadFlags::MODIFY) {
                writing.insert(file);
            } else if events.contains(ReadFlags::QUEUE_OVERFLOW) {
                writing.clear();
            }
        }
        found
    }
}

#[cfg(not(target_os = "linux"))]
mod nothing {
    use std::path::PathBuf;

    /// No system that gives notice.
    pub(crate) struct Notices;

    impl Notices {
        pub(crate) fn of(_: &[PathBuf]) -> Option<Notices> {
            None
        }

        pub(crate) fn is_writing(&self) -> bool {
            false
        }

        pub(crate) async fn next(&mut self) {
            std::future::pending().await
        }
    }
}
