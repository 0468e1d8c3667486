//! Callers who use single-use values, on any nodes, and remember their answers.
//!
//! The values are of two realms, and each has the id of one of the other realm: what one realm's
//! value is asked for must not be seen at the other's.
//!
//! What is asked goes through the server's own code: the conditions of a token request through
//! `single_use::commit`, mailed codes through `login::one_time_code`.
use crate::{
    executor::NOBODY,
    history::{Asked, Event, State, Told, is_linearizable},
    moves::Mover,
    planted::Planted,
    random::Random,
    world::{World, lock},
};
use signet_crypto::{
    Secret,
    seal::{Keyring, SealingKey},
};
use signet_login::journey::one_time_code::{self, Attempt, MailedCodeId, NewCode};
use signet_oauth::id::{CodeId, DeviceId, GrantId};
use signet_oauth::token::decision::{Retry, SingleUse};
use signet_realm::single_use::{self, Proofs, Refusal, SingleUseError, family_key};
use signet_store::{Change, Key, Op, Outcome, RealmId, Row, Store, StoreError, Table};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// Unix seconds that no clock of a simulation reaches.
const FAR: u64 = 1 << 40;

/// Calls that one value is asked for, at most: the history of each is small.
const CALLS_EACH: u64 = 9;

/// Values that are asked for at a time.
const AT_ONCE: usize = 3;

/// What kind of value it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Code,
    Assertion,
    AgentProof,
    PushedRequest,
    DeviceCode,
    MailedCode,
    AgentUses,
}

const KINDS: [Kind; 9] = [
    Kind::Code,
    Kind::Code,
    Kind::Code,
    Kind::Assertion,
    Kind::AgentProof,
    Kind::PushedRequest,
    Kind::DeviceCode,
    Kind::MailedCode,
    Kind::AgentUses,
];

#[derive(Clone, Copy, Debug)]
struct Value {
    number: u64,
    kind: Kind,
    /// Unix seconds after which it cannot be used.
    end: u64,
    asked: u64,
}

/// One part of a value, whose calls are judged for themselves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Part {
    Once,
    Family,
    Record,
    Mailed,
    Uses,
    /// A DPoP proof that is sent along.
    Proof(u64),
}

impl Part {
    fn first(self) -> State {
        match self {
            Part::Once | Part::Proof(_) => State::Once { used: false },
            Part::Family => State::Family(None),
            Part::Record => State::Record(None),
            Part::Mailed => State::Mailed(Some(one_time_code::MAX_ATTEMPTS)),
            Part::Uses => State::Uses(0),
        }
    }
}

#[derive(Default)]
struct Histories {
    values: Vec<Value>,
    next: u64,
    all: Vec<Value>,
    events: BTreeMap<(u64, Part), Vec<Event>>,
}

/// All callers of a run.
pub(crate) struct Clients {
    world: Arc<World>,
    /// What they use is one process's, which has a store of its own.
    process: Option<Arc<Mover>>,
    planted: Planted,
    keyring: Keyring,
    histories: Mutex<Histories>,
}

/// The outcome of all calls.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) done: u64,
    pub(crate) refused: u64,
    pub(crate) unknown: u64,
}

/// One call: what it asks of which part, and the answer that it got.
type Answers = Vec<(Part, Asked, Told)>;

/// Every second value is of a realm beside the first one.
fn realm(number: u64) -> RealmId {
    match number % 2 {
        0 => RealmId::default_realm(),
        _ => RealmId::parse("second").expect("a name"),
    }
}

fn grant(number: u64) -> GrantId {
    GrantId::new(id(number))
}

/// The same of a value of one realm and of the next one, of the other.
fn id(number: u64) -> [u8; 16] {
    let number = (number / 2).to_be_bytes();
    // Spread over the table, as random ids are.
    let mixed = u64::from_be_bytes(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut id = [7; 16];
    id[..8].copy_from_slice(&mixed.to_be_bytes());
    id[8..].copy_from_slice(&number);
    id
}

fn read(row: &Row) -> u64 {
    u64::from_be_bytes(row.value.as_slice().try_into().expect("eight bytes"))
}

fn told(outcome: &Outcome) -> Told {
    match outcome {
        Outcome::Done { .. } => Told::Done,
        Outcome::Refused(row) => Told::There(row.as_ref().map(read)),
    }
}

/// One question to a node, with all that it needs.
#[derive(Clone, Debug)]
enum Question {
    Redeem {
        value: Value,
        proof: Option<u64>,
    },
    Rotate {
        value: Value,
        from: u64,
        by: u8,
        window: u64,
        proof: Option<u64>,
    },
    Current {
        value: Value,
        generation: u64,
    },
    End {
        value: Value,
    },
    Assertion {
        value: Value,
    },
    AgentProof {
        value: Value,
    },
    Pushed {
        value: Value,
    },
    Announce {
        value: Value,
        fresh: u64,
    },
    Approve {
        value: Value,
        fresh: u64,
    },
    Poll {
        value: Value,
        fresh: u64,
    },
    Try {
        value: Value,
        right: bool,
    },
    Use {
        value: Value,
    },
    Read {
        value: Value,
    },
}

/// Of agents' grants, how often each may be used.
const USES: u64 = 3;

fn digits(number: u64) -> String {
    format!("{:06}", number % 1_000_000)
}

fn wrong_digits(number: u64) -> String {
    format!("{:06}", (number + 1) % 1_000_000)
}

impl Question {
    fn value(&self) -> Value {
        match self {
            Question::Redeem { value, .. }
            | Question::Rotate { value, .. }
            | Question::Current { value, .. }
            | Question::End { value }
            | Question::Assertion { value }
            | Question::AgentProof { value }
            | Question::Pushed { value }
            | Question::Announce { value, .. }
            | Question::Approve { value, .. }
            | Question::Poll { value, .. }
            | Question::Try { value, .. }
            | Question::Use { value }
            | Question::Read { value } => *value,
        }
    }

    /// What is not known when nothing comes back.
    fn unknown(&self) -> Answers {
        let proof = |proof: &Option<u64>| {
            let proof =
                proof.map(|jti| (Part::Proof(jti), Asked::Once { end: FAR }, Told::Unknown));
            proof.into_iter().collect::<Answers>()
        };
        let mut answers = Answers::new();
        let mut unknown = |part, asked| answers.push((part, asked, Told::Unknown));
        match self {
            Question::Redeem { value, proof: sent } => {
                unknown(Part::Once, Asked::Once { end: value.end });
                unknown(Part::Family, Asked::Begin);
                answers.extend(proof(sent));
            }
            Question::Rotate {
                from,
                by,
                window,
                proof: sent,
                ..
            } => {
                let (from, by, window) = (*from, *by, *window);
                unknown(Part::Family, Asked::Rotate { from, by, window });
                answers.extend(proof(sent));
            }
            Question::End { .. } => unknown(Part::Family, Asked::End),
            Question::Assertion { value }
            | Question::AgentProof { value }
            | Question::Pushed { value } => unknown(Part::Once, Asked::Once { end: value.end }),
            Question::Announce { fresh, .. } => {
                unknown(Part::Record, Asked::Insert { value: *fresh });
            }
            // What they were to replace is not known either: said where it is.
            Question::Approve { .. } | Question::Poll { .. } => {}
            Question::Try { right, .. } => unknown(Part::Mailed, Asked::Try { right: *right }),
            Question::Use { .. } => unknown(Part::Uses, Asked::Use { most: USES }),
            // What only reads and has failed says nothing.
            Question::Current { .. } | Question::Read { .. } => {}
        }
        answers
    }
}

/// Commits conditions as a token request does; what that says of each.
async fn conditions(
    store: &dyn Store,
    proof: Option<(u64, u64)>,
    last: SingleUse,
    now: u64,
) -> Result<(Option<Told>, Option<Refusal>), StoreError> {
    let sent = proof.map(|(number, jti)| SingleUse::DpopProof {
        jkt: format!("key of {}", number / 2),
        jti: jti.to_string(),
        end: FAR,
    });
    let all: Vec<SingleUse> = sent.into_iter().chain([last]).collect();
    match single_use::commit(store, Proofs::uncounted(), &all, Vec::new(), now).await {
        Ok(()) => Ok((Some(Told::Done), None)),
        Err(SingleUseError::Refused(Refusal::DpopProof)) => {
            Ok((Some(Told::Used), Some(Refusal::DpopProof)))
        }
        Err(SingleUseError::Refused(refusal)) => Ok((Some(Told::Done), Some(refusal))),
        Err(SingleUseError::TooMany { .. }) => panic!("nothing is counted"),
        Err(SingleUseError::Store(error)) => Err(error),
    }
}

fn with_proof(proof: Option<u64>, told: Option<Told>) -> Answers {
    let asked = Asked::Once { end: FAR };
    let both = proof.zip(told);
    both.map(|(jti, told)| (Part::Proof(jti), asked, told))
        .into_iter()
        .collect()
}

/// Asks; what was answered. An error says that nothing is known. `aimed`: what a call that reads
/// first was about to replace when it failed.
async fn ask(
    store: &dyn Store,
    keyring: &Keyring,
    question: &Question,
    now: u64,
    aimed: &Mutex<Option<Asked>>,
) -> Result<Answers, StoreError> {
    let insert = |key: Key, value: Vec<u8>, end| {
        Change::new(Op::Insert {
            key,
            value,
            end: Some(end),
        })
    };
    let number = question.value().number;
    let device = Key::new(Table::DeviceCode, id(number).to_vec());
    Ok(match question {
        Question::Redeem { value, proof } => {
            let code = SingleUse::Code {
                id: CodeId::new(id(number)),
                grant_id: grant(number),
                end: value.end,
                family_end: Some(FAR),
            };
            let asked = Asked::Once { end: value.end };
            let sent = proof.map(|jti| (number, jti));
            let (proved, refused) = conditions(store, sent, code, now).await?;
            let mut answers = with_proof(*proof, proved);
            match refused {
                None => {
                    answers.push((Part::Once, asked, Told::Done));
                    answers.push((Part::Family, Asked::Begin, Told::Done));
                }
                Some(Refusal::CodeReplay { grant_id }) if grant_id == grant(number) => {
                    answers.push((Part::Once, asked, Told::Used));
                }
                Some(Refusal::DpopProof) => {}
                Some(other) => panic!("{other:?}"),
            }
            answers
        }
        Question::Rotate {
            from,
            by,
            window,
            proof,
            ..
        } => {
            let (from, by, window) = (*from, *by, *window);
            let retry = Retry {
                by: [by; 32],
                window,
            };
            let rotate = SingleUse::Rotate {
                grant_id: grant(number),
                from,
                end: FAR,
                retry: (by != 0).then_some(retry),
            };
            let asked = Asked::Rotate { from, by, window };
            let sent = proof.map(|jti| (number, jti));
            let (proved, refused) = conditions(store, sent, rotate, now).await?;
            let mut answers = with_proof(*proof, proved);
            match refused {
                None => answers.push((Part::Family, asked, Told::Done)),
                Some(Refusal::RefreshReplay { .. }) => {
                    answers.push((Part::Family, asked, Told::Replay));
                }
                Some(Refusal::FamilyEnded) => answers.push((Part::Family, asked, Told::Ended)),
                Some(Refusal::DpopProof) => {}
                Some(other) => panic!("{other:?}"),
            }
            answers
        }
        Question::Current { generation, .. } => {
            let current = SingleUse::Current {
                grant_id: grant(number),
                generation: *generation,
            };
            let told = match conditions(store, None, current, now).await?.1 {
                None => Told::Done,
                Some(Refusal::RefreshReplay { .. }) => Told::Replay,
                Some(Refusal::FamilyEnded) => Told::Ended,
                Some(other) => panic!("{other:?}"),
            };
            let asked = Asked::Current {
                generation: *generation,
            };
            vec![(Part::Family, asked, told)]
        }
        Question::End { .. } => {
            let key = family_key(&grant(number));
            let outcome = store.commit(Change::new(Op::Delete { key }), now).await?;
            assert!(outcome.is_done(), "{outcome:?}");
            vec![(Part::Family, Asked::End, Told::Done)]
        }
        Question::Assertion { value } | Question::AgentProof { value } => {
            let (one, refusal) = match value.kind {
                Kind::Assertion => {
                    let assertion = SingleUse::Assertion {
                        client_id: "client".to_owned(),
                        jti: (number / 2).to_string(),
                        end: value.end,
                    };
                    (assertion, Refusal::Assertion)
                }
                _ => {
                    let mut hash = [0; 32];
                    hash[..16].copy_from_slice(&id(number));
                    let proof = SingleUse::AgentProof {
                        by: "agent".to_owned(),
                        id: hash,
                        end: value.end,
                    };
                    (proof, Refusal::AgentProof)
                }
            };
            let told = match conditions(store, None, one, now).await?.1 {
                None => Told::Done,
                Some(refused) if refused == refusal => Told::Used,
                Some(other) => panic!("{other:?}"),
            };
            vec![(Part::Once, Asked::Once { end: value.end }, told)]
        }
        // As the authorization endpoint spends a pushed request (RFC 9126 section 4).
        Question::Pushed { value } => {
            let key = Key::new(Table::PushedRequest, id(number).to_vec());
            let outcome = store
                .commit(insert(key, Vec::new(), value.end), now)
                .await?;
            let told = match outcome.is_done() {
                true => Told::Done,
                false => Told::Used,
            };
            vec![(Part::Once, Asked::Once { end: value.end }, told)]
        }
        Question::Announce { fresh, .. } => {
            let value = fresh.to_be_bytes().to_vec();
            let outcome = store.commit(insert(device, value, FAR), now).await?;
            let asked = Asked::Insert { value: *fresh };
            vec![(Part::Record, asked, told(&outcome))]
        }
        Question::Read { .. } => {
            let row = store.get(&device, now).await?;
            vec![(
                Part::Record,
                Asked::Read,
                Told::There(row.as_ref().map(read)),
            )]
        }
        Question::Approve { fresh, .. } | Question::Poll { fresh, .. } => {
            let Some(row) = store.get(&device, now).await? else {
                return Ok(Vec::new());
            };
            let (from, to) = (read(&row), *fresh);
            if let Question::Approve { .. } = question {
                let asked = Asked::Replace { from, to };
                *lock(aimed) = Some(asked);
                let approve = Op::Replace {
                    key: device,
                    version: row.version,
                    value: to.to_be_bytes().to_vec(),
                    end: row.end,
                };
                let outcome = store.commit(Change::new(approve), now).await?;
                vec![(Part::Record, asked, told(&outcome))]
            } else {
                let asked = Asked::Consume { from, to };
                *lock(aimed) = Some(asked);
                let consume = SingleUse::DeviceCode {
                    id: DeviceId::new(id(number)),
                    version: row.version,
                    consumed: to.to_be_bytes().to_vec(),
                    end: row.end,
                    grant_id: grant(number),
                    family_end: None,
                };
                let told = match conditions(store, None, consume, now).await?.1 {
                    None => Told::Done,
                    Some(Refusal::DeviceCode) => Told::Used,
                    Some(other) => panic!("{other:?}"),
                };
                vec![(Part::Record, asked, told)]
            }
        }
        Question::Try { right, .. } => {
            let typed = match right {
                true => digits(number),
                false => wrong_digits(number),
            };
            let mailed = MailedCodeId::new(id(number));
            let attempt = one_time_code::attempt(store, keyring, &mailed, &typed, now).await?;
            let told = match attempt {
                Attempt::Right { .. } => Told::Done,
                Attempt::Wrong => Told::Wrong,
                Attempt::Ended => Told::Ended,
            };
            vec![(Part::Mailed, Asked::Try { right: *right }, told)]
        }
        Question::Use { .. } => {
            let mut hash = [1; 32];
            hash[..16].copy_from_slice(&id(number));
            let spend = SingleUse::AgentUse {
                grant: hash,
                max_uses: Some(USES),
                budget: None,
                spend: 0,
                end: FAR,
            };
            let told = match conditions(store, None, spend, now).await?.1 {
                None => Told::Done,
                Some(Refusal::AgentUses) => Told::Used,
                Some(other) => panic!("{other:?}"),
            };
            vec![(Part::Uses, Asked::Use { most: USES }, told)]
        }
    })
}

impl Clients {
    pub(crate) fn of(world: &Arc<World>, planted: Planted) -> Arc<Clients> {
        Clients::made(world, None, planted)
    }

    /// Callers of one process.
    pub(crate) fn of_process(
        world: &Arc<World>,
        process: &Arc<Mover>,
        planted: Planted,
    ) -> Arc<Clients> {
        Clients::made(world, Some(process.clone()), planted)
    }

    /// Who answers now.
    fn serving(&self) -> Vec<u64> {
        match &self.process {
            Some(process) => process.store().map(|_| 1).into_iter().collect(),
            None => self.world.serving(),
        }
    }

    /// What one of them has its callers use, and its life.
    fn store(&self, node: u64) -> Option<(Arc<dyn Store>, u64)> {
        if let Some(process) = &self.process {
            return process.store();
        }
        let (store, group) = self.world.node(node)?;
        Some((self.planted.over(store, &self.world.random), group))
    }

    fn made(world: &Arc<World>, process: Option<Arc<Mover>>, planted: Planted) -> Arc<Clients> {
        let key = SealingKey {
            id: [1; 4],
            key: Secret::new([2; 32]),
            opens: signet_crypto::seal::Opens::All,
        };
        Arc::new(Clients {
            world: world.clone(),
            process,
            planted,
            keyring: Keyring::new(key, Vec::new()),
            histories: Mutex::default(),
        })
    }

    /// Asks a node, in the node's own life: where that ends, nothing is known.
    async fn ask_node(self: &Arc<Clients>, node: u64, question: Question) -> Option<Answers> {
        let world = &self.world;
        let now = world.unix(node);
        let from_us = world.clock.now_us();
        let (store, group) = self.store(node)?;
        let store = self.planted.view(realm(question.value().number), store);
        world
            .trace
            .note(&[from_us, 6, node, question.value().number]);
        let aimed: Arc<Mutex<Option<Asked>>> = Arc::default();
        let (me, asked, aim) = (self.clone(), question.clone(), aimed.clone());
        let asking = async move { ask(&*store, &me.keyring, &asked, now, &aim).await };
        let answered = world.clock.within(group, asking).await;
        let answers = match answered {
            Some(Ok(answers)) => answers,
            Some(Err(StoreError::Unavailable(_))) | None => {
                let mut unknown = question.unknown();
                let aimed = lock(&aimed).take();
                unknown.extend(aimed.map(|asked| (Part::Record, asked, Told::Unknown)));
                unknown
            }
            Some(Err(error)) => panic!("{question:?}: {error}"),
        };
        let to_us = world.clock.now_us();
        let mut histories = lock(&self.histories);
        for (part, asked, told) in &answers {
            world.trace.note(&[to_us, 7]);
            world
                .trace
                .note_bytes(format!("{asked:?} {told:?}").as_bytes());
            let event = Event {
                asked: *asked,
                told: *told,
                now,
                from_us,
                to_us: (*told != Told::Unknown).then_some(to_us),
            };
            let key = (question.value().number, *part);
            histories.events.entry(key).or_default().push(event);
        }
        Some(answers)
    }

    /// A value that nobody has asked for, made where that takes a call.
    async fn make(self: &Arc<Clients>, node: u64, random: &Random) -> Option<Value> {
        let number = {
            let mut histories = lock(&self.histories);
            histories.next += 1;
            histories.next
        };
        let value = Value {
            number,
            kind: *random.one_of(&KINDS),
            end: self.world.unix(node) + random.between(200, 1_000),
            asked: 0,
        };
        if value.kind == Kind::MailedCode {
            let now = self.world.unix(node);
            let (store, group) = self.store(node)?;
            let store = self.planted.view(realm(number), store);
            let me = self.clone();
            let create = async move {
                let code = NewCode {
                    id: MailedCodeId::new(id(number)),
                    digits: digits(number),
                };
                let user = Some(("alice", "alice@example.test"));
                one_time_code::keep(&*store, &me.keyring, &code, user, FAR, now).await
            };
            // One of which nothing is known is never mailed.
            self.world.clock.within(group, create).await?.ok()?;
        }
        let mut histories = lock(&self.histories);
        histories.values.push(value);
        histories.all.push(value);
        Some(value)
    }

    /// A value that is asked for now, and that others ask for, too.
    async fn pick(self: &Arc<Clients>, node: u64, random: &Random) -> Option<Value> {
        let count = lock(&self.histories).values.len();
        if count < AT_ONCE {
            self.make(node, random).await?;
        }
        let mut histories = lock(&self.histories);
        if histories.values.is_empty() {
            return None;
        }
        let place = random.below(histories.values.len() as u64) as usize;
        histories.values[place].asked += 1;
        let value = histories.values[place];
        if value.asked >= CALLS_EACH {
            histories.values.remove(place);
        }
        Some(value)
    }

    /// The generation of a family that was answered last, and how its part stands.
    fn generation(&self, value: Value) -> u64 {
        let histories = lock(&self.histories);
        let events = histories.events.get(&(value.number, Part::Family));
        let rotated = events
            .into_iter()
            .flatten()
            .filter_map(|event| match event.asked {
                Asked::Rotate { from, .. } if event.told == Told::Done => Some(from + 1),
                _ => None,
            });
        rotated.max().unwrap_or(0)
    }

    fn question(&self, value: Value, random: &Random) -> Question {
        let proof = random.permille(300).then(|| random.below(3));
        let fresh = random.next();
        match value.kind {
            Kind::Code => {
                let newest = self.generation(value);
                match random.below(20) {
                    0..7 => Question::Redeem { value, proof },
                    7..16 => Question::Rotate {
                        value,
                        from: newest.saturating_sub(random.below(4) / 3),
                        by: random.below(3) as u8,
                        window: random.below(2) * 30,
                        proof,
                    },
                    16..19 => Question::Current {
                        value,
                        generation: newest,
                    },
                    _ => Question::End { value },
                }
            }
            Kind::Assertion => Question::Assertion { value },
            Kind::AgentProof => Question::AgentProof { value },
            Kind::PushedRequest => Question::Pushed { value },
            Kind::DeviceCode => match random.below(10) {
                0..3 => Question::Announce { value, fresh },
                3..5 => Question::Approve { value, fresh },
                5..8 => Question::Poll { value, fresh },
                _ => Question::Read { value },
            },
            Kind::MailedCode => Question::Try {
                value,
                right: random.permille(500),
            },
            Kind::AgentUses => Question::Use { value },
        }
    }

    /// Calls one after another, until the end.
    pub(crate) async fn call(self: Arc<Clients>, random: Random, until_us: u64, pause_us: u64) {
        let world = self.world.clone();
        while world.clock.now_us() < until_us {
            world.clock.sleep_us(random.below(pause_us)).await;
            let numbers = self.serving();
            if numbers.is_empty() {
                continue;
            }
            let node = *random.one_of(&numbers);
            if let Some(value) = self.pick(node, &random).await {
                let question = self.question(value, &random);
                self.ask_node(node, question).await;
            }
        }
    }

    /// When everything is well again: each value is asked for once more, on any node.
    pub(crate) async fn ask_all_again(self: &Arc<Clients>, random: &Random) {
        let all = lock(&self.histories).all.clone();
        for value in all {
            let node = *random.one_of(&self.serving());
            let question = match value.kind {
                Kind::Code => {
                    let generation = self.generation(value);
                    let current = Question::Current { value, generation };
                    self.ask_node(node, current).await;
                    Question::Redeem { value, proof: None }
                }
                Kind::DeviceCode => Question::Read { value },
                Kind::MailedCode => Question::Try { value, right: true },
                Kind::Assertion | Kind::AgentProof | Kind::PushedRequest | Kind::AgentUses => {
                    self.question(value, random)
                }
            };
            let answers = self.ask_node(node, question).await.expect("it runs");
            let known = answers.iter().all(|(_, _, told)| *told != Told::Unknown);
            assert!(known, "nothing is known of {value:?} although all is well");
        }
    }

    /// The outcome of all calls, where each value's answers are those of one store.
    pub(crate) fn judge(&self) -> Result<Counts, String> {
        let histories = lock(&self.histories);
        let mut counts = Counts::default();
        for ((number, part), events) in &histories.events {
            for event in events {
                counts.calls += 1;
                match event.told {
                    Told::Done => counts.done += 1,
                    Told::Unknown => counts.unknown += 1,
                    Told::There(_) | Told::Used | Told::Replay | Told::Ended | Told::Wrong => {
                        counts.refused += 1;
                    }
                }
            }
            if !is_linearizable(part.first(), events) {
                let kind = histories.all.iter().find(|value| value.number == *number);
                return Err(format!(
                    "no single store tells this of {kind:?}, {part:?}: {events:#?}"
                ));
            }
        }
        Ok(counts)
    }
}

/// Rows that have long ended go, as every node's periodic work has it.
pub(crate) fn sweep(world: &Arc<World>, node: u64) {
    let Some((store, group)) = world.node(node) else {
        return;
    };
    let now = world.unix(node).saturating_sub(3_600);
    let swept = async move { store.sweep(now, 100).await };
    let clock = world.clock.clone();
    let swept = async move { drop(clock.within(group, swept).await) };
    world.clock.spawn_in(NOBODY, Box::pin(swept));
}
