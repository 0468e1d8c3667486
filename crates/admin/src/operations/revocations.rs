//! Revoking with a receipt: the answer says who has it in effect.
use crate::operations::model::{Confirmed, RevokeEverywhere, RevokedEverywhere, UnheardReader};
use signet_agent::AgentId;
use signet_encoding::base64url;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::operation::{Operation, run_within};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Write;
use signet_operation::roles::Rights;
use signet_operation::target;
use signet_realm::nodes::Confirmation;
use signet_realm::state::Realm;
use signet_realm::streams::Heard;
use signet_store::Subject;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const REVOKE: &str = "/admin/v1/revocations";

/// How long readers of the stream of revocations may take to acknowledge.
const READERS_WITHIN: Duration = Duration::from_secs(2);

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("revokeEverywhere", Area::Tokens, Write, Method::Post, REVOKE, "Revoke, and answer once every node and every reader of the stream of revocations has it in effect, or say which has not", run_within!(revoke)).ends(),
];

async fn revoke(
    realm: Arc<Realm>,
    rights: Rights,
    Json(wanted): Json<RevokeEverywhere>,
) -> Result<Json<RevokedEverywhere>, Problem> {
    let begun = Instant::now();
    if let Some(user) = &wanted.user {
        target::over_user_of_id(&realm, &rights, user).await?;
    }
    if let Some(client) = &wanted.client {
        target::over_client_of_id(&realm, &rights, client).await?;
    }
    let subject = end(&realm, &wanted).await?;
    // Announced a second time, for the receipt: whatever else was ended with it was announced
    // before.
    let receipt = realm
        .revoke_everywhere(subject, realm.end_of_everything())
        .await?;
    if let Some(session) = &wanted.session {
        // Its clients are notified of an end that is written.
        signet_directory::logout_notice::ended(&*realm.store, session, realm.now()).await?;
    }
    let here = begun.elapsed();
    let (own, others) = tokio::join!(
        realm.revocation_streams.ask(READERS_WITHIN),
        realm.host.nodes.confirm(realm.id(), READERS_WITHIN),
    );
    let mut answer = RevokedEverywhere {
        nodes: vec![Confirmed::new(realm.host.nodes.name(), here)],
        unreachable: Vec::new(),
        readers: Vec::new(),
        unheard: Vec::new(),
    };
    for (node, after) in receipt.acknowledged {
        answer.nodes.push(Confirmed::new(node.as_str(), after));
    }
    for node in receipt.unreachable {
        answer.unreachable.push(node.as_str().to_owned());
    }
    answer.heard(realm.host.nodes.name(), own);
    for Confirmation { node, readers } in others {
        match readers {
            Some(readers) => answer.heard(node.as_str(), readers),
            // It has the revocation in effect; what its readers have is not known.
            None => answer.unheard.push(UnheardReader {
                node: node.as_str().to_owned(),
                client_id: None,
            }),
        }
    }
    Ok(Json(answer))
}

impl RevokedEverywhere {
    fn heard(&mut self, node: &str, readers: Vec<Heard>) {
        for Heard { client_id, after } in readers {
            match after {
                Some(after) => self.readers.push(Confirmed::new(&client_id, after)),
                None => self.unheard.push(UnheardReader {
                    node: node.to_owned(),
                    client_id: Some(client_id),
                }),
            }
        }
    }
}

/// Ends what is named, as the operation on the one thing would, and says by which subject the
/// others are asked.
async fn end(realm: &Realm, wanted: &RevokeEverywhere) -> Result<Subject, Problem> {
    let RevokeEverywhere {
        user,
        client,
        agent,
        delegation,
        session,
        before,
    } = wanted;
    let named = [user, client, agent, delegation, session];
    if named.iter().filter(|name| name.is_some()).count() > 1 {
        return Err(Problem::invalid(
            "name one of user, client, agent, delegation and session",
        ));
    }
    if before.is_some() && (delegation.is_some() || session.is_some()) {
        return Err(Problem::invalid(
            "before goes with user, client, agent, or alone: a session or a delegation ends whole",
        ));
    }
    let now_ms = realm.now_ms();
    let epoch_ms = match before {
        None => realm.epoch_ms(),
        Some(before) => before.saturating_mul(1000).saturating_sub(1),
    };
    if before.is_some() && epoch_ms > now_ms {
        return Err(Problem::invalid("before must not lie in the future"));
    }
    Ok(match (user, client, agent, delegation, session) {
        (Some(user), ..) => {
            let known = realm.people.users.by_id(user, realm.now()).await?;
            known.ok_or_else(Problem::not_found)?;
            if before.is_none() {
                realm.revoke_everything_of(user).await?;
            }
            Subject::User(user.clone(), epoch_ms)
        }
        (_, Some(client), ..) => {
            let snapshot = realm.snapshot();
            if !snapshot.registry.clients.contains_key(client) {
                return Err(Problem::not_found());
            }
            Subject::Client(client.clone(), epoch_ms)
        }
        (_, _, Some(agent), ..) => {
            let agent: AgentId = agent
                .parse()
                .map_err(|_| Problem::invalid("agent is no id of an agent"))?;
            Subject::Agent(agent.to_string(), epoch_ms)
        }
        (_, _, _, Some(delegation), _) => {
            let id = base64url::decode(delegation.as_bytes()).ok();
            let id = id.and_then(|id| id.try_into().ok());
            Subject::AgentGrant(id.ok_or_else(|| {
                Problem::invalid("delegation is the id of a grant: 32 bytes in base64url")
            })?)
        }
        (_, _, _, _, Some(session)) => Subject::Session(session.clone()),
        (None, None, None, None, None) => match before {
            Some(_) => Subject::Issuer(realm.snapshot().settings.issuer.clone(), epoch_ms),
            None => return Err(Problem::invalid("name what is revoked")),
        },
    })
}
