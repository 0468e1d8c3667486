//! `signet dev trace`: one request's way, step by step, with times.
use clap::Args;
use serde_json::Value;
use signet_admin_client::{Session, Target, dev_file::DEFAULT_DIR};
use signet_terminal::output::{Failure, Output};
use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

/// `signet dev trace ...`
#[derive(Debug, Args)]
pub struct Trace {
    /// The id of a request, as its answer (`x-request-id`) and the log have it, or of a trace.
    #[arg(value_name = "ID")]
    id: String,
    /// The development server's data directory.
    #[arg(long, value_name = "DIR", default_value = DEFAULT_DIR)]
    data_dir: PathBuf,
}

impl Trace {
    /// Asks the development server, and prints what it says.
    ///
    /// # Errors
    /// Exit 1: the server has no such request; 2: it cannot be asked.
    pub async fn run(&self, output: &Output) -> Result<(), Failure> {
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if self.id.is_empty() || self.id.len() > 64 || !self.id.bytes().all(is_id) {
            return Err(Failure::unusable(
                "an id is 16 characters of A-Z, a-z, 0-9, - and _, or a trace's 32 hex digits",
            ));
        }
        let target = Target::at(&self.data_dir.to_string_lossy(), None, None);
        let path = format!("/traces/{}", self.id);
        let found = Session::with(&target, async |session| session.get(&path).await).await?;
        output.print(&found, || tree(&found))
    }
}

/// A line for each step: when it began, how long it took, what it was, and what is said of it.
fn tree(trace: &Value) -> String {
    let spans = trace["spans"].as_array().map_or(&[][..], Vec::as_slice);
    let mut within: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for span in spans {
        let parent = span["parent"].as_str().unwrap_or_default();
        within.entry(parent).or_default().push(span);
    }
    for steps in within.values_mut() {
        steps.sort_by_key(|step| step["begin_us"].as_u64());
    }
    let mut out = format!(
        "request {}, trace {}\n  began at     took\n",
        trace["request_id"].as_str().unwrap_or_default(),
        trace["trace_id"].as_str().unwrap_or_default(),
    );
    branch(&within, "", 0, &mut out);
    if let Some(dropped) = trace["dropped"].as_u64().filter(|dropped| *dropped > 0) {
        let _ = writeln!(out, "and {dropped} more steps");
    }
    out.trim_end().to_owned()
}

fn branch(within: &BTreeMap<&str, Vec<&Value>>, of: &str, depth: usize, out: &mut String) {
    // A step lies in one that is there, and none in itself: the depth is bounded by their number.
    for step in within.get(of).map_or(&[][..], Vec::as_slice) {
        let times = ["begin_us", "took_us"].map(|name| step[name].as_u64().unwrap_or_default());
        let [begin, took] = times.map(|micros| format!("{:.3} ms", micros as f64 / 1000.0));
        let name = step["name"].as_str().unwrap_or_default();
        let _ = write!(
            out,
            "{begin:>10} {took:>10}  {:indent$}{name}",
            "",
            indent = 2 * depth
        );
        if step["failed"] == true {
            out.push_str("  FAILED");
        }
        for (name, value) in step["attributes"].as_object().into_iter().flatten() {
            let value = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let _ = write!(out, "  {name}={value}");
        }
        out.push('\n');
        let id = step["id"].as_str().unwrap_or_default();
        if !id.is_empty() && id != of {
            branch(within, id, depth + 1, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn steps_are_shown_within_what_they_ran_in_by_their_begin() {
        let step = |id: &str, parent: Value, name: &str, begin: u64| {
            json!({
                "id": id, "parent": parent, "name": name, "begin_us": begin, "took_us": 1500,
                "attributes": { "http.response.status_code": 200 }, "failed": id == "c",
            })
        };
        let shown = tree(&json!({
            "request_id": "AAAA", "trace_id": "0af7", "dropped": 2,
            "spans": [
                step("a", Value::Null, "request", 0),
                step("c", json!("a"), "sign", 900),
                step("b", json!("a"), "commit", 20),
                step("d", json!("b"), "flush", 30),
            ],
        }));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "request AAAA, trace 0af7");
        let ends = ["request", "  commit", "    flush", "  sign  FAILED"];
        for (line, end) in lines[2..].iter().zip(ends) {
            let expected = format!("1.500 ms  {end}  http.response.status_code=200");
            assert!(line.ends_with(&expected), "{line}");
        }
        assert_eq!(lines[6], "and 2 more steps");
    }
}
