//! Tasks, one after another, in time that advances when none of them has anything to do.
//!
//! Tasks belong to groups, one a node and its life: a crash drops a whole group in the middle of
//! whatever it does.
use signet_surroundings::{Surroundings, Task};
use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};
use tokio::sync::oneshot;

/// Of tasks that no crash ends.
pub(crate) const NOBODY: u64 = 0;

#[derive(Default)]
struct State {
    ready: VecDeque<Arc<Handle>>,
    begun: Vec<(u64, Task)>,
    timers: BTreeMap<u64, Vec<Waker>>,
    killed: Vec<u64>,
}

#[derive(Default)]
struct Shared {
    now_us: AtomicU64,
    group: AtomicU64,
    state: Mutex<State>,
}

/// The time of a simulation, and its tasks.
#[derive(Clone, Default)]
pub(crate) struct Clock(Arc<Shared>);

struct Handle {
    id: u64,
    shared: Arc<Shared>,
    queued: AtomicBool,
}

impl Wake for Handle {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, SeqCst) {
            let shared = self.shared.clone();
            lock(&shared.state).ready.push_back(self);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn us(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Surroundings for Clock {
    fn now(&self) -> Duration {
        Duration::from_micros(self.now_us())
    }

    fn wake_at(&self, at: Duration, waker: &Waker) {
        // A timer is never early.
        let at = us(at + Duration::from_nanos(999));
        let mut state = lock(&self.0.state);
        let there = state.timers.entry(at).or_default();
        if !there.iter().any(|other| other.will_wake(waker)) {
            there.push(waker.clone());
        }
    }

    fn spawn(&self, task: Task) {
        self.spawn_in(self.0.group.load(SeqCst), task);
    }
}

/// Waits for a moment.
pub(crate) struct Sleep {
    clock: Clock,
    at_us: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.clock.now_us() >= self.at_us {
            return Poll::Ready(());
        }
        let at = Duration::from_micros(self.at_us);
        self.clock.wake_at(at, context.waker());
        Poll::Pending
    }
}

impl Clock {
    pub(crate) fn now_us(&self) -> u64 {
        self.0.now_us.load(SeqCst)
    }

    pub(crate) fn sleep_until(&self, at_us: u64) -> Sleep {
        Sleep {
            clock: self.clone(),
            at_us,
        }
    }

    pub(crate) fn sleep_us(&self, us: u64) -> Sleep {
        self.sleep_until(self.now_us() + us)
    }

    pub(crate) fn spawn_in(&self, group: u64, task: Task) {
        lock(&self.0.state).begun.push((group, task));
    }

    /// Begins something as a part of a group, and waits for it; None where the group was ended.
    pub(crate) fn within<T: Send + 'static>(
        &self,
        group: u64,
        work: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = Option<T>> + Send + 'static {
        let (reply, answer) = oneshot::channel();
        let task = async move { drop(reply.send(work.await)) };
        self.spawn_in(group, Box::pin(task));
        async move { answer.await.ok() }
    }

    /// Drops all tasks of a group before the next task runs.
    pub(crate) fn kill(&self, group: u64) {
        lock(&self.0.state).killed.push(group);
    }

    /// Runs this, and whatever it begins, until it ends.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        root: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let _simulated = signet_surroundings::simulate(Arc::new(self.clone()));
        let ended: Arc<Mutex<Option<T>>> = Arc::default();
        let keep = ended.clone();
        self.spawn_in(
            NOBODY,
            Box::pin(async move { *lock(&keep) = Some(root.await) }),
        );
        let mut tasks: BTreeMap<u64, (u64, Task)> = BTreeMap::new();
        let mut next = 0;
        loop {
            let (begun, killed) = {
                let mut state = lock(&self.0.state);
                (
                    std::mem::take(&mut state.begun),
                    std::mem::take(&mut state.killed),
                )
            };
            for (group, task) in begun {
                next += 1;
                tasks.insert(next, (group, task));
                let handle = Handle {
                    id: next,
                    shared: self.0.clone(),
                    queued: AtomicBool::new(false),
                };
                Arc::new(handle).wake();
            }
            if !killed.is_empty() {
                let ended = tasks.extract_if(.., |_, (group, _)| killed.contains(group));
                // Dropped when all are out: what one of them drops may wake another.
                drop(ended.collect::<Vec<_>>());
                continue;
            }
            let Some(handle) = lock(&self.0.state).ready.pop_front() else {
                if lock(&self.0.state).begun.is_empty() {
                    self.go_on();
                }
                continue;
            };
            handle.queued.store(false, SeqCst);
            let id = handle.id;
            let Some((group, task)) = tasks.get_mut(&id) else {
                continue;
            };
            self.0.group.store(*group, SeqCst);
            let waker = Waker::from(handle);
            if task
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
            {
                tasks.remove(&id);
                if let Some(value) = lock(&ended).take() {
                    return value;
                }
            }
        }
    }

    /// To the next moment at which anybody has something to do.
    fn go_on(&self) {
        let due = lock(&self.0.state).timers.pop_first();
        let (at, wakers) = due.expect("somebody waits for a moment, or all wait for ever");
        self.0.now_us.fetch_max(at, SeqCst);
        wakers.into_iter().for_each(Waker::wake);
    }
}
