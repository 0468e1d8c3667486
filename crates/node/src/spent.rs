//! What unauthenticated callers caused at one node counts at the others, too: soon after it was
//! counted, and only then, it is sent to those who are connected.

use std::{sync::Arc, time::Duration};

use signet_cluster::{
    links::Links,
    transport::{Caller, Serve},
};
use signet_merge::tell::BoxFuture;
use signet_realm::budgets::spent;
use signet_realm::state::Realm;
use signet_store::NodeId;

use super::{late::Heard, service_ids::SPENT};

/// What is counted within this time is sent together.
const TOGETHER: Duration = Duration::from_millis(100);
/// How long a node may take to count it.
const WITHIN: Duration = Duration::from_secs(2);

/// Tells the others what is counted here, for as long as the process runs. One that does not hear
/// it in time counts less: it is not told again.
pub(crate) async fn tell(realm: Arc<Realm>, links: Arc<Links>) {
    realm.budgets.tell_others();
    loop {
        realm.budgets.until_spent().await;
        tokio::time::sleep(TOGETHER).await;
        loop {
            let spent = realm.budgets.take_spent();
            if spent.is_empty() {
                break;
            }
            let bytes = spent::to_bytes(realm.id(), spent);
            let connected = links.states().into_iter();
            for state in connected.filter(|state| state.connection.is_some()) {
                let call = links.call(&state.node, SPENT, bytes.clone(), WITHIN);
                tokio::spawn(async move {
                    if let Err(error) = call.await {
                        tracing::debug!(node = %state.node, %error, "failed to share spent budgets with a node");
                    }
                });
            }
        }
    }
}

/// Answers [`SPENT`].
pub(crate) struct Counts(pub Arc<Heard>);

impl Serve for Counts {
    fn serve(&self, _: &NodeId, request: Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let heard = Arc::clone(&self.0);
        Box::pin(async move {
            heard.realm().ok_or("the node is starting")?;
            let (realm, spent) = spent::from_bytes(&request)?;
            // Where it is not open, nothing is counted.
            if let Some(realm) = heard.named(&realm) {
                realm.budgets.hear_spent(&spent, realm.now());
            }
            Ok(Vec::new())
        })
    }
}
