//! Nodes of an installation: what `signet-node` makes of a process, over the simulated network.
//!
//! Real are invitations, admission by a member, node numbers, what a newcomer is handed, what a
//! node keeps in files of its own, the first member, joining, resuming, what members note of each
//! other, and removal. In place of the streams there is the simulated network, and in place of the
//! gossip each member tells another one now and then which members it knows.
use crate::{
    planted::Planted,
    random::Random,
    world::{Ask, World, lock, name, number},
};
use signet_cluster::{
    identity::Identity,
    join::{self, Description, Host, HostParts, JoinError, Token},
    links::{Door, Topology},
    member::Members,
    transport::{CallError, Caller, Services},
};
use signet_consensus::{NodeId, ReplicatedStore};
use signet_crypto::Clock as UnixClock;
use signet_encoding::base64url;
use signet_merge::{
    entry::Entry,
    hlc::{Hlc, Stamp},
    tell::{BoxFuture, Receipt, Tell},
};
use signet_node::{ClusterOptions, OpenedStore, Part, PartOf, Peers, Place};
use signet_registry::keys::SealingFile;
use signet_store::{Engine, Key, MovableStore, Store, Table};
use signet_surroundings::Task;
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::sync::watch;

const ISSUER: &str = "https://issuer.example";

/// The machine that is first: it is by itself until it lets one in.
pub(crate) const FIRST: u64 = 1;

/// An invitation holds for so long; clocks are minutes apart.
const HOLDS: Duration = Duration::from_secs(3_600);

/// A newcomer waits no longer for an answer, in microseconds, and often less. (The server's waits
/// half a minute: more happens in a run.)
const ANSWER_US: u64 = 4_000_000;

/// A member tells another one whom it knows so often, in microseconds.
const GOSSIP_US: u64 = 400_000;

/// A machine's clock.
struct MachineClock(Weak<World>, u64);

impl UnixClock for MachineClock {
    fn now_ms(&self) -> u64 {
        let world = self.0.upgrade();
        world.map_or(0, |world| world.unix(self.1) * 1_000)
    }
}

/// One life of a node: from its start to its end.
struct Life {
    group: u64,
    services: Services,
    members: Arc<Members>,
    host: Host,
    part: Arc<Part>,
    changed: watch::Sender<u64>,
    serves: AtomicBool,
}

/// A machine's identity, as what tells it from others that had its name.
type Fingerprint = [u8; 32];

#[derive(Default)]
struct State {
    lives: BTreeMap<u64, Arc<Life>>,
    /// What each machine is started with.
    tokens: BTreeMap<u64, Token>,
    /// Whose each number is.
    numbers: BTreeMap<u64, (u64, Fingerprint)>,
    /// What went wrong at a machine's last start.
    errors: BTreeMap<u64, String>,
    /// What must not be.
    wrong: Option<String>,
}

/// See the module.
pub(crate) struct Installation {
    state: Mutex<State>,
    planted: Planted,
}

impl Installation {
    /// One node by itself.
    pub(crate) async fn begin(world: &Arc<World>, planted: Planted) -> Arc<Installation> {
        let all = Arc::new(Installation {
            state: Mutex::default(),
            planted,
        });
        world.install(all.clone());
        world.set_up(FIRST);
        world.start(FIRST).await;
        while world.serving().is_empty() {
            world.clock.sleep_us(10_000).await;
        }
        all
    }

    fn life(&self, world: &World, machine: u64) -> Option<Arc<Life>> {
        let (_, group) = world.node(machine)?;
        let state = lock(&self.state);
        let life = state.lives.get(&machine)?;
        (life.group == group).then(|| life.clone())
    }

    pub(crate) fn serving(&self, world: &World) -> Vec<u64> {
        let numbers = world.numbers().into_iter();
        let serves = |machine: &u64| {
            let life = self.life(world, *machine);
            life.is_some_and(|life| life.serves.load(SeqCst))
        };
        numbers.filter(serves).collect()
    }

    /// Starts a machine's process, with the token that it has.
    pub(crate) fn start(
        self: &Arc<Self>,
        world: &Arc<World>,
        machine: u64,
        store: Arc<ReplicatedStore>,
        group: u64,
    ) {
        let (all, of) = (self.clone(), world.clone());
        let starting = async move {
            let Err(why) = all.live(&of, machine, store, group).await else {
                return;
            };
            of.trace.note(&[of.clock.now_us(), 10, machine]);
            lock(&all.state).errors.insert(machine, why);
            // A process whose start fails exits.
            of.crash(machine);
        };
        world.clock.spawn_in(group, Box::pin(starting));
    }

    async fn live(
        self: &Arc<Self>,
        world: &Arc<World>,
        machine: u64,
        store: Arc<ReplicatedStore>,
        group: u64,
    ) -> Result<(), String> {
        let data_dir = world.disk(machine).ok_or("ended")?.directory().to_owned();
        let options = options(machine, data_dir.clone());
        let clock = Arc::new(MachineClock(Arc::downgrade(world), machine));
        let place = match Place::read(&data_dir)? {
            Some(place) => place,
            None if machine == FIRST => {
                let file = SealingFile::open_or_create(&data_dir, clock.now());
                file.map_err(|e| e.to_string())?;
                let place = first_place(&options);
                place.write(&data_dir)?;
                place
            }
            None => {
                let token = lock(&self.state).tokens.get(&machine).cloned();
                let token = token.ok_or("it was not invited")?;
                let opened = OpenedStore {
                    store: Arc::new(MovableStore::new(store.clone())),
                    engine: Engine::sqlite(&data_dir),
                    replicated: Some(store.clone()),
                };
                let by = Newcomer(world.clone(), machine);
                signet_node::join_by(&by, &token, &options, &opened, &*clock).await?
            }
        };
        let life = self.open(world, &place, &options, store.clone(), group)?;
        life.part.begin(&place).await?;
        // As the server's start: it answers nothing before its rows are as the others'.
        let any = Key::new(Table::Once, "any");
        while store.get(&any, world.unix(machine)).await.is_err() {
            if let Some(why) = store.status().refused {
                return Err(why);
            }
            world.clock.sleep_us(50_000).await;
        }
        let described = async {
            life.host.load().await?;
            life.host.describe(&description(machine)).await
        };
        described.await.map_err(|e| e.to_string())?;
        life.serves.store(true, SeqCst);
        self.stir();
        Ok(())
    }

    /// A node's machinery, as a process of the server begins it.
    fn open(
        self: &Arc<Self>,
        world: &Arc<World>,
        place: &Place,
        options: &ClusterOptions,
        store: Arc<ReplicatedStore>,
        group: u64,
    ) -> Result<Arc<Life>, String> {
        let node = place.node()?;
        let machine = number(&node);
        let identity = Identity::open_or_create(&options.data_dir).map_err(|e| e.to_string())?;
        let identity = Arc::new(identity);
        let own = identity.fingerprint(&node);
        self.note_number(place.number, machine, own.0);
        let members = Members::open(&options.data_dir).map_err(|e| e.to_string())?;
        let members = Arc::new(members);
        if members.was_removed(identity.public()) {
            return Err("it was removed".to_owned());
        }
        let clock = Arc::new(MachineClock(Arc::downgrade(world), machine));
        let streams = Arc::new(Streams {
            world: Arc::downgrade(world),
            all: Arc::downgrade(self),
            machine,
            group,
        });
        let part = Part::open(PartOf {
            node: node.clone(),
            data_dir: options.data_dir.clone(),
            zone: String::new(),
            store: store.clone(),
            members: members.clone(),
            peers: streams,
            clock: clock.clone(),
        })?;
        let services = Services::new();
        part.serve(&services);
        let mouth = Arc::new(Mouth {
            world: Arc::downgrade(world),
            all: Arc::downgrade(self),
            machine,
            group,
            hlc: Hlc::new(node.clone()),
        });
        let given = self.planted.numbers(store.clone());
        let host = Host::new(HostParts {
            node,
            identity,
            members: members.clone(),
            store,
            tell: mouth,
            provide: signet_node::giver(options, given, Some(part.clone()), clock.clone()),
            clock,
        });
        let life = Arc::new(Life {
            group,
            services,
            members,
            host,
            part: part.clone(),
            changed: watch::Sender::new(0),
            serves: AtomicBool::new(false),
        });
        lock(&self.state).lives.insert(machine, life.clone());
        self.stir();
        world.clock.spawn_in(group, Box::pin(part.keep()));
        let gossip = gossip(self.clone(), world.clone(), machine, life.clone());
        world.clock.spawn_in(group, Box::pin(gossip));
        Ok(life)
    }

    /// Who is connected may have changed.
    fn stir(&self) {
        for life in lock(&self.state).lives.values() {
            life.changed.send_modify(|n| *n += 1);
        }
    }

    fn note_number(&self, number: u64, machine: u64, own: Fingerprint) {
        if number == 0 {
            return;
        }
        let mut state = lock(&self.state);
        let whose = *state.numbers.entry(number).or_insert((machine, own));
        if whose != (machine, own) {
            let wrong = format!("{machine} and {} have the number {number}", whose.0);
            state.wrong.get_or_insert(wrong);
        }
    }

    /// What a member answers to a question of another machine, which has to be a member.
    pub(crate) fn serve(
        &self,
        world: &World,
        to: u64,
        from: u64,
        service: u8,
        request: Vec<u8>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, CallError>> + Send>> {
        let life = self.life(world, to);
        Box::pin(async move {
            let life = life.ok_or(CallError::NotConnected)?;
            let from = name(from);
            life.members.find(&from).ok_or(CallError::NotConnected)?;
            let service = life.services.find(service).ok_or(CallError::NoService)?;
            let answer = service.serve(&from, request).await;
            answer.map_err(CallError::Refused)
        })
    }

    /// What a member answers to a newcomer.
    pub(crate) fn welcome(
        &self,
        world: &World,
        to: u64,
        invitation: String,
        key: [u8; 32],
        request: Vec<u8>,
    ) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, CallError>> + Send>> {
        let life = self.life(world, to);
        Box::pin(async move {
            let life = life.ok_or(CallError::NotConnected)?;
            if !life.host.expects(&invitation).await {
                return Err(CallError::Refused("no such invitation".to_owned()));
            }
            Ok(life.host.welcome(&invitation, key, request).await)
        })
    }

    /// Sets up a machine that starts with an invitation of a member; whether there is one.
    pub(crate) async fn invite(&self, world: &Arc<World>, by: u64, machine: u64) -> bool {
        let Some(life) = self.life(world, by) else {
            return false;
        };
        let host = life.host.clone();
        let invited = async move { host.invite(HOLDS).await };
        let invited = world.clock.within(life.group, invited).await;
        let Some(Ok(token)) = invited else {
            return false;
        };
        lock(&self.state).tokens.insert(machine, token);
        world.set_up(machine);
        true
    }

    /// Has a member remove another one; whether that is done, durably and for all.
    pub(crate) async fn remove(
        &self,
        world: &Arc<World>,
        by: u64,
        machine: u64,
    ) -> Result<(), String> {
        let life = self.life(world, by).ok_or("it is not there")?;
        let (store, _) = world.node(by).ok_or("it is not there")?;
        let now = world.unix(by);
        let (group, gone) = (life.group, name(machine));
        let removing = async move {
            let (part, host) = (Some(&*life.part), &life.host);
            signet_node::remove(part, host, &gone, &*store, now).await
        };
        let removed = world.clock.within(group, removing).await;
        let removed = removed.ok_or("it ended over it")?;
        removed.map(drop).map_err(|e| e.to_string())
    }

    /// Whether a machine is a member of the store as another one sees it, and by what number.
    pub(crate) fn numbers_seen(&self, world: &World, by: u64) -> BTreeMap<u64, u64> {
        let Some((store, _)) = world.node(by) else {
            return BTreeMap::new();
        };
        let members = store.status().members.into_iter();
        members
            .map(|(member, _)| (number(&member.name), member.number))
            .collect()
    }

    /// Why a machine's last start failed.
    pub(crate) fn error(&self, machine: u64) -> Option<String> {
        lock(&self.state).errors.get(&machine).cloned()
    }

    /// When all is well: all nodes know the same members by the same numbers, and each its own.
    pub(crate) fn judge(&self, world: &World) -> Result<(), String> {
        if let Some(wrong) = &lock(&self.state).wrong {
            return Err(wrong.clone());
        }
        let machines = world.numbers();
        let seen = self.numbers_seen(world, machines[0]);
        let numbers: BTreeSet<u64> = seen.values().copied().collect();
        if machines.len() > 1 && (numbers.len() != seen.len() || !seen.keys().eq(&machines)) {
            return Err(format!("of {machines:?} there are as members: {seen:?}"));
        }
        for machine in machines {
            let life = self.life(world, machine).ok_or("it lives")?;
            let names: Vec<u64> = life.members.names().iter().map(number).collect();
            if !names.iter().eq(seen.keys()) && seen.len() > 1 {
                return Err(format!("{machine} knows {names:?} and not {seen:?}"));
            }
            let (store, _) = world.node(machine).ok_or("it lives")?;
            let me = store.me().map_err(|e| e.to_string())?;
            let me = me.map(|me| me.number);
            if me != seen.get(&machine).copied() || self.numbers_seen(world, machine) != seen {
                return Err(format!(
                    "{machine} is {me:?} for itself, and for others {seen:?}"
                ));
            }
        }
        Ok(())
    }
}

fn description(machine: u64) -> Description {
    Description {
        addresses: vec![format!("127.0.0.1:{}", 7_000 + machine)],
        url: ISSUER.to_owned(),
        ..Description::default()
    }
}

fn options(machine: u64, data_dir: PathBuf) -> ClusterOptions {
    let port = u16::try_from(7_000 + machine).expect("few machines");
    ClusterOptions {
        data_dir,
        issuer: ISSUER.to_owned(),
        url: ISSUER.to_owned(),
        name: Some(name(machine)),
        listen: Some(([127, 0, 0, 1], port).into()),
        advertise: Vec::new(),
        zone: String::new(),
        hub: false,
        topology: Topology::default(),
        peers: Vec::new(),
        staleness: None,
        development: None,
        embedded: true,
    }
}

fn first_place(options: &ClusterOptions) -> Place {
    Place {
        name: name(FIRST).as_str().to_owned(),
        number: 0,
        url: options.url.clone(),
        listen: options.listen.expect("it listens"),
        invited: false,
    }
}

/// Which machine listens at an address.
fn at(address: &str) -> Option<u64> {
    let port: u64 = address.rsplit(':').next()?.parse().ok()?;
    port.checked_sub(7_000)
}

/// A newcomer's way to the members.
struct Newcomer(Arc<World>, u64);

impl join::Ask for Newcomer {
    fn ask<'a>(
        &'a self,
        token: &'a Token,
        identity: &'a Identity,
        address: &'a str,
        request: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, JoinError>> {
        Box::pin(async move {
            let unreachable = || JoinError::Unreachable(address.to_owned());
            let to = at(address).ok_or_else(unreachable)?;
            let invitation = base64url::encode(&token.id);
            let ask = Ask::Door(invitation, identity.public().spki_sha256);
            let (world, request) = (self.0.clone(), request.to_vec());
            let within_us = world.random.between(ANSWER_US / 40, ANSWER_US);
            let carried = world.carry(self.1, to, ask, request, within_us).await;
            match carried.map_err(|_| unreachable())? {
                Ok(answer) => Ok(answer),
                // As a handshake that the member breaks off.
                Err(CallError::Refused(_)) => Err(JoinError::Unknown),
                Err(_) => Err(unreachable()),
            }
        })
    }
}

/// The other nodes, over the simulated network.
struct Streams {
    world: Weak<World>,
    all: Weak<Installation>,
    machine: u64,
    group: u64,
}

impl Caller for Streams {
    fn call(
        &self,
        to: &NodeId,
        service: u8,
        request: Vec<u8>,
        deadline: Duration,
    ) -> BoxFuture<'static, Result<Vec<u8>, CallError>> {
        let (world, from, to) = (self.world.upgrade(), self.machine, to.clone());
        let connected = self.connected().contains(&to);
        Box::pin(async move {
            let world = world.filter(|_| connected).ok_or(CallError::NotConnected)?;
            let within_us = u64::try_from(deadline.as_micros()).expect("short");
            let ask = Ask::Service(service);
            let carried = world.carry(from, number(&to), ask, request, within_us);
            carried.await.map_err(|_| CallError::Late)?
        })
    }
}

impl Peers for Streams {
    /// Two nodes are connected that know each other as members. A cut is noticed by what does not
    /// arrive.
    fn connected(&self) -> Vec<NodeId> {
        let (Some(world), Some(all)) = (self.world.upgrade(), self.all.upgrade()) else {
            return Vec::new();
        };
        let Some(own) = all.life(&world, self.machine) else {
            return Vec::new();
        };
        let me = name(self.machine);
        let mut names = own.members.names();
        names.retain(|node| {
            let other = all.life(&world, number(node));
            *node != me && other.is_some_and(|life| life.members.find(&me).is_some())
        });
        names
    }

    fn changes(&self) -> watch::Receiver<u64> {
        let both = self.world.upgrade().zip(self.all.upgrade());
        let life = both.and_then(|(world, all)| all.life(&world, self.machine));
        life.map_or_else(
            || watch::Sender::new(0).subscribe(),
            |life| life.changed.subscribe(),
        )
    }

    fn want(&self, _: BTreeSet<NodeId>) {}

    fn run(&self, work: Task) -> BoxFuture<'_, Result<(), String>> {
        let world = self.world.upgrade();
        Box::pin(async move {
            let world = world.ok_or("the simulation is over")?;
            let done = world.clock.within(self.group, work).await;
            done.ok_or_else(|| "the node exited".to_owned())
        })
    }
}

/// How a node tells the others of members.
struct Mouth {
    world: Weak<World>,
    all: Weak<Installation>,
    machine: u64,
    group: u64,
    hlc: Hlc,
}

impl Tell for Mouth {
    fn stamp(&self) -> Stamp {
        let unix = self.world.upgrade().map(|world| world.unix(self.machine));
        self.hlc.now(unix.unwrap_or_default() * 1_000)
    }

    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        if let (Some(world), Some(all)) = (self.world.upgrade(), self.all.upgrade()) {
            let others = world.numbers().into_iter();
            for to in others.filter(|to| *to != self.machine) {
                let said = say(
                    all.clone(),
                    world.clone(),
                    self.machine,
                    to,
                    entries.clone(),
                );
                world.clock.spawn_in(self.group, Box::pin(said));
            }
        }
        Box::pin(std::future::ready(Receipt::default()))
    }
}

/// Says what one node knows of members to another one, which may not hear it.
async fn say(all: Arc<Installation>, world: Arc<World>, from: u64, to: u64, entries: Vec<Entry>) {
    if !world.passes(from, to).await {
        return;
    }
    let Some(life) = all.life(&world, to) else {
        return;
    };
    // Only a member is believed.
    if life.members.find(&name(from)).is_none() {
        return;
    }
    let mut changed = false;
    for entry in entries {
        changed |= life.members.believe(&entry).expect("what a member said");
    }
    if changed {
        all.stir();
    }
}

async fn gossip(all: Arc<Installation>, world: Arc<World>, machine: u64, life: Arc<Life>) {
    let random: Random = world.random.fork();
    loop {
        world
            .clock
            .sleep_us(random.between(GOSSIP_US / 2, GOSSIP_US))
            .await;
        let mut others = life.members.names();
        others.retain(|node| *node != name(machine));
        if others.is_empty() {
            continue;
        }
        let to = number(random.one_of(&others));
        let entries = life.members.entries();
        say(all.clone(), world.clone(), machine, to, entries).await;
    }
}
