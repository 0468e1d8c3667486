//! ES256 keys: checked by the library, and by a table of their own once they are used often.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use aws_lc_rs::signature::ParsedPublicKey;

use super::InvalidSignature;
use crate::hash::sha256;
use crate::p256::{self, Table};

/// How many signatures a kept key verifies before its table is made. By then the library has taken
/// as long as the table does, so that a table never costs more than it could have saved.
pub const VERIFICATIONS_BEFORE_TABLE: u32 = 32;

/// Most tables that a process keeps at once, each of 148 KB. Keys beyond are checked by the
/// library.
pub const MAX_TABLES: usize = 64;

/// How many tables there are, or are being made.
static TABLES: AtomicUsize = AtomicUsize::new(0);

/// A key that is used for long. Copies share its table.
#[derive(Clone)]
pub(super) struct Kept(Arc<State>);

struct State {
    point: [[u8; 32]; 2],
    library: ParsedPublicKey,
    verifications: AtomicU32,
    table: OnceLock<Counted>,
}

/// A table that is counted for as long as it is there.
struct Counted {
    table: Table,
    _place: Place,
}

/// One of the [`MAX_TABLES`].
struct Place;

impl Place {
    fn take() -> Option<Place> {
        TABLES
            .try_update(Relaxed, Relaxed, |tables| {
                (tables < MAX_TABLES).then_some(tables + 1)
            })
            .is_ok()
            .then_some(Place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        TABLES.fetch_sub(1, Relaxed);
    }
}

impl Kept {
    pub(super) fn new(point: [[u8; 32]; 2], library: ParsedPublicKey) -> Kept {
        Kept(Arc::new(State {
            point,
            library,
            verifications: AtomicU32::new(0),
            table: OnceLock::new(),
        }))
    }

    pub(super) fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), InvalidSignature> {
        let signature: &[u8; 64] = signature.try_into().map_err(|_| InvalidSignature)?;
        if let Some(counted) = self.0.table.get() {
            return match p256::verify(&counted.table, &sha256(message), signature) {
                true => Ok(()),
                false => Err(InvalidSignature),
            };
        }
        let before = self.0.verifications.fetch_add(1, Relaxed);
        // Again after as many, where there was no place or no thread: a key may have gone.
        if before % VERIFICATIONS_BEFORE_TABLE == VERIFICATIONS_BEFORE_TABLE - 1 {
            self.prepare();
        }
        self.0
            .library
            .verify_sig(message, signature)
            .map_err(|_| InvalidSignature)
    }

    /// Has the table made beside, on a thread that ends with it.
    fn prepare(&self) {
        let Some(place) = Place::take() else { return };
        let state = Arc::clone(&self.0);
        // No thread to be had: the library goes on.
        let _ = std::thread::Builder::new()
            .name("es256-table".to_owned())
            .spawn(move || {
                if let Some(table) = p256::table(&state.point[0], &state.point[1]) {
                    // Two threads can come here: the later one's is dropped, with its place.
                    let _ = state.table.set(Counted {
                        table,
                        _place: place,
                    });
                }
            });
    }

    #[cfg(test)]
    pub(super) fn has_table(&self) -> bool {
        self.0.table.get().is_some()
    }
}
