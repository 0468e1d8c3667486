//! Pictures of clients and identity providers (`logo_uri`), fetched and kept: one fetch for many
//! requests, at most once a day, and not soon again where it brought nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use signet_pages::Picture;

use signet_verify::fetch::Outbound;

/// Longest picture, in bytes.
pub const MAX_LOGO_BYTES: usize = 65_536;
/// Pictures that are kept; beyond, all are fetched again.
pub const MAX_LOGOS: usize = 256;
/// How long one is shown as it is, in seconds.
pub const LOGO_LIFETIME: u64 = 86_400;
/// How long nothing is asked again that was no picture, in seconds.
pub const LOGO_RETRY: u64 = 600;

const ACCEPT: &str = "image/png, image/svg+xml, image/webp, image/jpeg";

/// What the last attempt brought.
struct Kept {
    picture: Option<Picture>,
    /// Unix seconds.
    fetched_at: u64,
}

impl Kept {
    fn holds(&self, now: u64) -> bool {
        let lifetime = match self.picture {
            Some(_) => LOGO_LIFETIME,
            None => LOGO_RETRY,
        };
        // What was fetched in the future was fetched by a clock that was forward.
        self.fetched_at <= now && now - self.fetched_at < lifetime
    }
}

/// One address; whoever fetches holds it, and others wait for the same answer.
type Place = Arc<tokio::sync::Mutex<Option<Kept>>>;

/// The pictures of a realm's clients and providers that this node has: nothing that another node
/// needs.
#[derive(Default)]
pub struct Logos {
    places: Mutex<HashMap<String, Place>>,
}

impl Logos {
    fn place(&self, url: &str) -> Place {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MAX_LOGOS && !places.contains_key(url) {
            places.clear();
        }
        places.entry(url.to_owned()).or_default().clone()
    }

    /// The picture of this address, if it has one.
    pub async fn of(&self, outbound: &Outbound, url: &str, now: u64) -> Option<Picture> {
        let place = self.place(url);
        let mut kept = place.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.holds(now)) {
            return kept.picture.clone();
        }
        let picture = match outbound.get(url, ACCEPT).await {
            Ok(body) if body.len() <= MAX_LOGO_BYTES => Picture::of(body.to_vec()),
            Ok(_) => None,
            Err(error) => {
                tracing::info!(%error, "failed to fetch a logo_uri");
                None
            }
        };
        *kept = Some(Kept {
            picture: picture.clone(),
            fetched_at: now,
        });
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_kept_for_a_day_and_a_failure_for_minutes() {
        let kept = |picture: Option<Picture>| Kept {
            picture,
            fetched_at: 1000,
        };
        let picture = Picture::of(b"\x89PNG\r\n".to_vec());
        assert!(picture.is_some());
        assert!(kept(picture.clone()).holds(1000 + LOGO_LIFETIME - 1));
        assert!(!kept(picture.clone()).holds(1000 + LOGO_LIFETIME));
        assert!(!kept(picture).holds(999));
        assert!(kept(None).holds(1000 + LOGO_RETRY - 1));
        assert!(!kept(None).holds(1000 + LOGO_RETRY));
    }

    #[test]
    fn the_places_are_bounded() {
        let logos = Logos::default();
        for n in 0..3 * MAX_LOGOS {
            logos.place(&format!("https://client.example/{n}"));
        }
        assert!(logos.places.lock().unwrap().len() <= MAX_LOGOS);
    }
}
