//! One row of the admin API, and how it is performed.
//!
//! An operation is typed: it reads an input, whoever made it, and gives an output, whoever shows
//! it. That JSON over HTTP is one way to it is known to [`crate::adapter`] alone.
use crate::caller::Acting;
use crate::facts::{Facts, Method};
use crate::problem::Problem;
use crate::reason;
use crate::right::{Area, Right};
use crate::target;
use signet_audit::{Action, Counted, Event};
use std::pin::Pin;

type Running<O> = Pin<Box<dyn Future<Output = Result<O, Problem>> + Send>>;

/// An operation: a row with its types.
pub struct Operation<I, O> {
    facts: Facts,
    run: fn(&Acting, I) -> Running<O>,
}

impl<I, O> Operation<I, O> {
    /// What the row says of itself.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// A row: its name, what it is about, the right it needs, its method, path and sentence, and
    /// what does it.
    pub const fn new(
        id: &'static str,
        area: Area,
        needs: Right,
        method: Method,
        path: &'static str,
        summary: &'static str,
        run: fn(&Acting, I) -> Running<O>,
    ) -> Operation<I, O> {
        Operation {
            facts: Facts {
                id,
                area,
                needs,
                method,
                path,
                summary,
                ends: None,
            },
            run,
        }
    }

    /// It ends something for good. One that removes (`DELETE`) says so by its method.
    #[must_use]
    pub const fn ends(mut self) -> Operation<I, O> {
        self.facts.ends = Some(true);
        self
    }

    /// It removes (`DELETE`) what would have ended something: nothing is lost by it.
    #[must_use]
    pub const fn keeps(mut self) -> Operation<I, O> {
        self.facts.ends = Some(false);
        self
    }

    /// Performs it, if the administrator may, and has it recorded. `named`: what its path names,
    /// segment by segment; `reason`: why, where its caller says it. The input is read once the
    /// caller is known to be allowed; what is wrong with it is a refusal like others.
    ///
    /// # Errors
    /// `insufficient_scope` or `insufficient_role` for an administrator without the right, or with
    /// less than those have whom it is about;
    /// `insufficient_user_authentication` where two factors are needed; what is wrong with the
    /// input; what the operation itself refuses.
    pub async fn perform(
        &self,
        acting: &Acting,
        (named, reason): (&[(&'static str, String)], Option<&str>),
        input: impl Future<Output = Result<I, Problem>> + Send,
    ) -> Result<O, Problem> {
        let facts = &self.facts;
        let (realm, who) = (&acting.realm, acting.admin.who.as_str());
        let audit = realm.audit();
        let target: Vec<&str> = named.iter().map(|(_, name)| name.as_str()).collect();
        let target = target.join("/");
        let event = Event::new(Action::ADMIN, acting.now_ms)
            .request(acting.request_id.as_str())
            .address(acting.peer)
            .subject(who)
            .operation(facts.id)
            .reason(reason.filter(|_| facts.needs != Right::Read))
            .target(&target);
        let refused = match acting.admin.expect_may(facts) {
            Err(problem) => Some(problem),
            // Reading of somebody gives no power over them.
            Ok(()) if facts.needs == Right::Read => None,
            Ok(()) => match reason::expect(facts, realm.snapshot().settings.reason, reason) {
                Err(problem) => Some(problem),
                Ok(()) => target::expect_over_named(acting, named).await.err(),
            },
        };
        if let Some(problem) = refused {
            audit.record(event.refused(problem.code()));
            return Err(problem);
        }
        if facts.needs == Right::Reveal {
            let is_fresh = acting.admin.has_just_shown_two_factors(acting.now_ms).await;
            let refused = match is_fresh {
                Ok(true) => None,
                Ok(false) => Some(Problem::two_factors()),
                Err(problem) => Some(problem),
            };
            if let Some(problem) = refused {
                audit.record(event.refused(problem.code()));
                return Err(problem);
            }
        }
        let work = async { (self.run)(acting, input.await?).await };
        match facts.needs {
            Right::Read => {
                let done = work.await;
                audit.count(Counted::AdminRead, who, done.is_ok());
                done
            }
            Right::Reset | Right::Write | Right::Reveal => {
                let done = audit.act(event, work, Problem::code).await;
                let result = done.as_ref().map_or_else(Problem::code, |_| "done");
                let request_id = acting.request_id;
                tracing::info!(%request_id, peer = %acting.peer, operation = facts.id, caller = who, result, "administration");
                done
            }
        }
    }
}

/// An `async fn(Arc<Realm>, I) -> Result<O, Problem>` as a row's.
#[macro_export]
macro_rules! run {
    ($run:path) => {
        |acting, input| Box::pin($run(std::sync::Arc::clone(&acting.realm), input))
    };
}
pub use crate::run;

/// As [`run`], of one that says who did it: between the two stands a user's id or a `client_id`.
#[macro_export]
macro_rules! run_by {
    ($run:path) => {
        |acting, input| {
            let by = acting.admin.who.clone();
            Box::pin($run(std::sync::Arc::clone(&acting.realm), by, input))
        }
    };
}
pub use crate::run_by;

/// As [`run`], of one that asks what its caller may beyond the row itself.
#[macro_export]
macro_rules! run_within {
    ($run:path) => {
        |acting, input| {
            let rights = acting.admin.rights.clone();
            Box::pin($run(std::sync::Arc::clone(&acting.realm), rights, input))
        }
    };
}
pub use crate::run_within;
