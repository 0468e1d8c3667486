//! Which trace a step belongs to: the thread knows it while the request's future is polled.
use super::{
    attribute::{Attribute, Value},
    recorded::Kind,
    recording::Handle,
};
use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    task::{Context, Poll},
};

thread_local! {
    /// Whether [`CURRENT`] has anything: what every step asks first.
    static ACTIVE: Cell<bool> = const { Cell::new(false) };
    static CURRENT: RefCell<Option<Handle>> = const { RefCell::new(None) };
    static REQUEST: Cell<[u8; 16]> = const { Cell::new([0; 16]) };
}

impl Handle {
    /// The place that this thread works at, where it is recorded.
    pub fn current() -> Option<Handle> {
        if !ACTIVE.get() {
            return None;
        }
        CURRENT.with_borrow(|current| current.clone().filter(|place| place.trace.records))
    }

    fn enter(&self) -> Entered {
        let before = CURRENT.replace(Some(self.clone()));
        let was_active = ACTIVE.replace(true);
        Entered { before, was_active }
    }
}

/// While it lives, the thread works at a place. What was before is again when it is dropped.
struct Entered {
    before: Option<Handle>,
    was_active: bool,
}

impl Drop for Entered {
    fn drop(&mut self) {
        ACTIVE.set(self.was_active);
        CURRENT.replace(self.before.take());
    }
}

/// Whether what this thread works for is recorded.
pub fn is_recorded() -> bool {
    ACTIVE.get() && Handle::current().is_some()
}

/// Says something of the step that this thread works at.
pub fn note<V: Into<Value>>(attribute: Attribute, value: impl FnOnce() -> V) {
    if let Some(place) = Handle::current() {
        place.note(attribute, value());
    }
}

/// The id of the request that this thread works for.
pub fn request() -> Option<[u8; 16]> {
    Some(REQUEST.get()).filter(|id| *id != [0; 16])
}

/// What a request to another server says of the step that it is sent in, where it is to say it:
/// `traceparent`, and `tracestate` where there is any.
pub fn outgoing() -> Option<(String, String)> {
    if !ACTIVE.get() {
        return None;
    }
    CURRENT.with_borrow(|current| {
        let place = current.as_ref()?;
        place.trace.propagates.then_some(())?;
        let context = place.trace.context(place.span);
        Some((context.traceparent(), context.state))
    })
}

/// One step whose work waits for others.
pub fn step<'a, F: Future + ?Sized>(name: &'static str, work: Pin<&'a mut F>) -> Step<'a, F> {
    of_kind(name, Kind::Internal, work)
}

/// One step, on this side of a call.
fn of_kind<'a, F: Future + ?Sized>(
    name: &'static str,
    kind: Kind,
    work: Pin<&'a mut F>,
) -> Step<'a, F> {
    let open = Handle::current().map(|place| Open(place.begin(name, kind)));
    Step { open, work }
}

/// One step that waits for nobody.
pub fn within<T>(name: &'static str, work: impl FnOnce() -> T) -> T {
    let Some(place) = Handle::current() else {
        return work();
    };
    let open = Open(place.begin(name, Kind::Internal));
    let _entered = open.0.enter();
    work()
}

/// A span that has not ended; it ends when it is dropped.
struct Open(Handle);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.trace.end(self.0.span);
    }
}

/// See [`step`].
#[must_use]
pub struct Step<'a, F: ?Sized> {
    open: Option<Open>,
    work: Pin<&'a mut F>,
}

impl<F: Future + ?Sized> Step<'_, F> {
    /// The same, as a request to another server, of this host.
    pub fn to_server(self, host: &str) -> Self {
        if let Some(Open(place)) = &self.open {
            place.trace.is_client(place.span);
            place.note(Attribute::Server, host.to_owned());
        }
        self
    }
}

impl<F: Future + ?Sized> Future for Step<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let Some(open) = &this.open else {
            return this.work.as_mut().poll(task);
        };
        let polled = {
            let _entered = open.0.enter();
            this.work.as_mut().poll(task)
        };
        if polled.is_ready() {
            this.open = None;
        }
        polled
    }
}

/// The work for one request: its lines of the log have its id, and its steps belong to its trace,
/// where it has one.
pub fn during<'a, F: Future + ?Sized>(
    request: [u8; 16],
    trace: Option<&'a Handle>,
    work: Pin<&'a mut F>,
) -> During<'a, F> {
    During {
        request,
        trace,
        work,
    }
}

/// See [`during`].
#[must_use]
pub struct During<'a, F: ?Sized> {
    request: [u8; 16],
    trace: Option<&'a Handle>,
    work: Pin<&'a mut F>,
}

struct OfRequest([u8; 16]);

impl Drop for OfRequest {
    fn drop(&mut self) {
        REQUEST.set(self.0);
    }
}

impl<F: Future + ?Sized> Future for During<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let _before = OfRequest(REQUEST.replace(this.request));
        let _entered = this.trace.map(Handle::enter);
        this.work.as_mut().poll(task)
    }
}
