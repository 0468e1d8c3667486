//! How a line of the log is written: an object of JSON, or a short line for people.
//!
//! A line that is written for a request has the request's id, whoever wrote it, and the trace's
//! where the request is recorded.

use std::fmt::{self, Write};

use serde_json::{Map, Value};
use signet_telemetry::{
    logs::{LINES, Line, ON},
    trace::{self, Handle},
};
use std::{
    sync::atomic::Ordering::Relaxed,
    time::{SystemTime, UNIX_EPOCH},
};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer,
    fmt::{
        FmtContext, FormatEvent, FormatFields,
        format::Writer,
        time::{FormatTime, SystemTime as Timer},
    },
    layer::Context,
    registry::LookupSpan,
};

/// The private half of an error, which may repeat what a caller typed: it stays in the process' own
/// log.
const PRIVATE: &str = "hint";
/// Lines of what sends lines are not sent: a collector that is down would cause its own work.
const SENDER: &str = "signet_monitoring";

/// The form of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lines {
    /// An object a line.
    Json,
    /// For people; at a terminal without the date, and with colours where it may have them.
    Text {
        /// Without the date.
        short: bool,
        /// With colours.
        coloured: bool,
    },
}

/// What a line says.
#[derive(Default)]
struct Said {
    message: String,
    fields: Vec<(&'static str, Value)>,
}

impl Said {
    fn of(event: &Event<'_>) -> Said {
        let mut said = Said::default();
        event.record(&mut said);
        if let Some(id) = trace::request()
            && !said.fields.iter().any(|(name, _)| *name == "request_id")
        {
            let id = String::from_utf8_lossy(&id).into_owned();
            said.fields.insert(0, ("request_id", id.into()));
        }
        said
    }

    fn put(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            // A number or a truth is no message.
            (name, value) => self.fields.push((name, value)),
        }
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut time = String::with_capacity(32);
        Timer.format_time(&mut Writer::new(&mut time))?;
        let metadata = event.metadata();
        let said = Said::of(event);
        let line = match *self {
            Lines::Json => json(&time, metadata.level(), metadata.target(), said),
            Lines::Text { short, coloured } => {
                // 2026-11-27T07:16:02.123456Z
                let time = if short { time.get(11..23) } else { None }.unwrap_or(&time);
                text(time, metadata.level(), coloured, &said)
            }
        };
        writeln!(writer, "{line}")
    }
}

fn json(time: &str, level: &Level, target: &str, said: Said) -> String {
    let mut line = Map::new();
    line.insert("timestamp".to_owned(), time.into());
    line.insert("level".to_owned(), level.as_str().into());
    if !said.message.is_empty() {
        line.insert("message".to_owned(), said.message.into());
    }
    for (name, value) in said.fields {
        line.insert(name.to_owned(), value);
    }
    if let Some(place) = Handle::current() {
        line.insert("trace_id".to_owned(), place.ids().0.into());
    }
    line.insert("target".to_owned(), target.into());
    Value::Object(line).to_string()
}

fn text(time: &str, level: &Level, coloured: bool, said: &Said) -> String {
    let colour = match *level {
        Level::ERROR => "31",
        Level::WARN => "33",
        Level::INFO => "32",
        Level::DEBUG => "34",
        Level::TRACE => "35",
    };
    let paint = |code: &str, text: &str| match coloured {
        true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    };
    let level = format!("{:<5}", level.as_str());
    let mut line = format!("{} {}", paint("2", time), paint(colour, &level));
    if !said.message.is_empty() {
        line.push(' ');
        line.push_str(&shown(&said.message));
    }
    for (name, value) in &said.fields {
        let value = match value {
            Value::String(text) => shown(text),
            other => other.to_string(),
        };
        let value = match value.contains(' ') || value.is_empty() {
            true => format!("\"{value}\""),
            false => value,
        };
        let _ = write!(line, " {}{value}", paint("2", &format!("{name}=")));
    }
    line
}

/// A text for a terminal: what could move its cursor is written out.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

/// Hands lines on to whoever exports them, where somebody does.
pub(crate) struct Exported;

impl<S: Subscriber> Layer<S> for Exported {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if !ON.load(Relaxed) || metadata.target().starts_with(SENDER) {
            return;
        }
        let Said { message, fields } = Said::of(event);
        let fields = fields.into_iter().filter(|(name, _)| *name != PRIVATE);
        let fields = fields.map(|(name, value)| match value {
            Value::String(text) => (name, text),
            other => (name, other.to_string()),
        });
        let at = SystemTime::now().duration_since(UNIX_EPOCH);
        let line = Line {
            at: u64::try_from(at.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX),
            level: metadata.level().as_str(),
            target: metadata.target(),
            message,
            fields: fields.collect(),
            span: Handle::current().map(|place| place.ids()),
        };
        LINES.put(line, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context as Task, Waker};
    use tracing_subscriber::layer::SubscriberExt;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(lines: Lines, work: impl FnOnce()) -> String {
        let out = Written::default();
        let to = out.clone();
        let layer = tracing_subscriber::fmt::layer()
            .event_format(lines)
            .with_writer(move || to.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, work);
        let bytes = out.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    fn one() {
        tracing::warn!(target: "signet::test", number = 7, name = "a b", odd = "x\u{1b}[2J\ny", "refused it");
    }

    #[test]
    fn json_has_a_line_with_the_fields_beside_the_text() {
        let line = written(Lines::Json, one);
        let said: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line.lines().count(), 1);
        assert_eq!(
            (&said["level"], &said["message"]),
            (&"WARN".into(), &"refused it".into())
        );
        assert_eq!((&said["number"], &said["name"]), (&7.into(), &"a b".into()));
        assert_eq!(said["target"], "signet::test");
        assert!(said.get("request_id").is_none());
    }

    #[test]
    fn a_line_for_people_is_short_and_moves_no_cursor() {
        let plain = Lines::Text {
            short: true,
            coloured: false,
        };
        let line = written(plain, one);
        let end = " WARN  refused it number=7 name=\"a b\" odd=x\\u{1b}[2J\\ny\n";
        assert!(line.ends_with(end), "{line}");
        assert_eq!(line.len(), "07:16:02.123".len() + end.len());
        let coloured = written(
            Lines::Text {
                short: true,
                coloured: true,
            },
            one,
        );
        assert!(coloured.contains("\u{1b}[33mWARN \u{1b}[0m"), "{coloured}");
        let long = written(
            Lines::Text {
                short: false,
                coloured: false,
            },
            one,
        );
        assert!(long.starts_with("20") && long.contains('T'), "{long}");
    }

    #[test]
    fn a_line_that_is_written_for_a_request_has_its_id_once() {
        let line = written(Lines::Json, || {
            let work = pin!(async {
                tracing::info!("did this");
                tracing::info!(request_id = "own", "did that");
            });
            let mut work = pin!(trace::during(*b"AAAAAAAAAAAAAAAB", None, work));
            let _ = work.as_mut().poll(&mut Task::from_waker(Waker::noop()));
        });
        let lines: Vec<Value> = line
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0]["request_id"], "AAAAAAAAAAAAAAAB");
        assert_eq!(lines[1]["request_id"], "own");
    }
}
