//! One thing to send.
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use signet_encoding::base64url;

/// What an item can say: an object of JSON, whose members lie beside those of [`Item`].
pub trait Payload: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> Payload for T {}

/// Where an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing is to be sent yet: looked at again when it is due.
    Watching,
    /// To be sent.
    Waiting,
    /// The receiver has taken it.
    Delivered,
    /// Every attempt failed, or there is nobody to send it to.
    Failed,
}

/// One thing to send. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "P: Payload")]
pub struct Item<P> {
    /// What it says, and to whom.
    #[serde(flatten)]
    pub what: P,
    /// The same at every attempt, so that a receiver can tell.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// When it was made.
    pub made_at: u64,
    /// How often it was sent.
    pub attempts: u32,
    /// The result of the last attempt, or why there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// When it was last sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<u64>,
}

impl<P> Item<P> {
    /// To be sent.
    pub fn new(what: P, now: u64) -> Item<P> {
        Item {
            what,
            id: base64url::encode(&signet_crypto::random::bytes::<16>()),
            state: State::Waiting,
            made_at: now,
            attempts: 0,
            last: None,
            last_at: None,
        }
    }

    /// To be looked at: nobody acts when what it watches is over.
    pub fn watch(what: P, now: u64) -> Item<P> {
        Item {
            state: State::Watching,
            ..Item::new(what, now)
        }
    }
}
