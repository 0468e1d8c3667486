//! Verifying a log: from its frames and a public document, with nothing of the server's.
//!
//! Frames are read in order and never kept: a log of any length is verified in the same memory.
//! Each line is compared with its content, its place and the line before it, so that a change is
//! found at its line; each signed root with the tree of all lines before it, so that nothing was
//! left out that the chain alone would not miss.

use signet_agent::anchor::Anchors;
use signet_agent::identity::VerifiedDocument;
use signet_agent::log::{Checkpoint, Frontier};
use signet_agent::{Hash, Refusal};

use crate::event::{Action, SegmentFacts};
use crate::line::{Frame, Head, Line};
use signet_store::NodeId;

/// Where and why a log does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Broken {
    /// The reason's name and sentence.
    pub reason: Refusal,
    /// The line it shows at; where lines are missing, the first of them.
    pub line: u64,
    /// In words: which lines, and what is wrong with them.
    pub place: String,
}

impl Broken {
    /// At a line.
    pub fn at(line: u64, reason: Refusal, place: impl Into<String>) -> Broken {
        Broken {
            reason,
            line,
            place: place.into(),
        }
    }
}

/// What was verified.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Whose log it is.
    pub document: VerifiedDocument,
    /// Which node's.
    pub node: NodeId,
    /// The first record that was there; above 0, older segments were archived or removed, and a
    /// record says so.
    pub first: u64,
    /// How the records before the first left; none where nothing left.
    pub left: Option<Left>,
    /// Lines in all, archived ones included.
    pub lines: u64,
    /// Checkpoints that were checked.
    pub checkpoints: u64,
    /// Lines that say that others are missing.
    pub gaps: u64,
    /// The last checkpoint: to be kept elsewhere.
    pub last: Option<Checkpoint>,
    /// The kept checkpoint was compared.
    pub known_checked: bool,
}

/// How older records left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// To the archive.
    Archived,
    /// By the rule of the configuration; maybe earlier ones to an archive.
    Removed,
}

/// Which signatures are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signatures {
    /// Every checkpoint's.
    All,
    /// The last checkpoint's, which covers all records: enough for a server's own start, which
    /// reads its newest segment alone and asks nobody the outcome of older ones.
    Last,
}

/// The state of a log as far as it was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) frontier: Frontier,
    pub(crate) previous: Option<Hash>,
    pub(crate) at_ms: u64,
    pub(crate) signed_at: u64,
}

/// Reads a log, frame by frame.
#[derive(Debug)]
pub struct Verifier {
    /// Who has to have signed; where nobody is named, whom the first head names.
    expected: Option<VerifiedDocument>,
    document: Option<VerifiedDocument>,
    known: Option<Checkpoint>,
    known_checked: bool,
    signatures: Signatures,
    state: State,
    node: Option<NodeId>,
    /// A head was read and no batch after it yet.
    begun: bool,
    first: u64,
    /// What the log was at its first record here, as the record of the segment before it would have
    /// it.
    before: Option<SegmentFacts>,
    left: Option<Left>,
    /// Lines that the last checkpoint covers.
    signed: u64,
    checkpoints: u64,
    gaps: u64,
    last: Option<Checkpoint>,
}

impl Verifier {
    /// `expected`: whose log it has to be. `known`: a checkpoint that was kept from before.
    pub fn new(
        expected: Option<VerifiedDocument>,
        known: Option<Checkpoint>,
        signatures: Signatures,
    ) -> Verifier {
        Verifier {
            expected,
            document: None,
            known,
            known_checked: false,
            signatures,
            state: State::default(),
            node: None,
            begun: false,
            first: 0,
            before: None,
            left: None,
            signed: 0,
            checkpoints: 0,
            gaps: 0,
            last: None,
        }
    }

    /// Lines read so far, archived ones included: the index of the next.
    pub fn next_line(&self) -> u64 {
        self.state.frontier.len()
    }

    /// Lines that a checkpoint covers.
    pub fn signed_lines(&self) -> u64 {
        self.signed
    }

    /// Whose log it is, once a head was read.
    pub fn document(&self) -> Option<&VerifiedDocument> {
        self.document.as_ref()
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The next frame.
    ///
    /// # Errors
    /// The first line at which something is wrong.
    pub fn frame(&mut self, frame: &Frame) -> Result<(), Broken> {
        match frame {
            Frame::Head(head) => self.head(head),
            Frame::Line(line) => self.line(line),
            Frame::Checkpoint(checkpoint) => self.checkpoint(checkpoint),
        }
    }

    fn head(&mut self, head: &Head) -> Result<(), Broken> {
        let (next, first) = (self.next_line(), head.frontier.len());
        if self.begun {
            let place = format!("the segment that begins with line {next} has two heads");
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        self.begun = true;
        let Some(document) = &self.document else {
            let named = match &self.expected {
                Some(expected) if head.document.is_continued_by(expected) => expected.clone(),
                Some(expected) if expected.is_continued_by(&head.document) => head.document.clone(),
                Some(_) => {
                    return Err(Broken::at(
                        first,
                        Refusal::WrongSigner,
                        "the log is another identity's",
                    ));
                }
                None => head.document.clone(),
            };
            self.document = Some(named);
            self.node = Some(head.node.clone());
            (self.first, self.signed) = (first, first);
            self.before = head.previous.map(|previous| SegmentFacts {
                // What the segment before began with is not known here.
                first: 0,
                next: first,
                head: previous.0,
                root: head.frontier.root().0,
            });
            self.state.frontier = head.frontier.clone();
            self.state.previous = head.previous;
            return self.compare_known();
        };
        if self.signed < next {
            return Err(self.unsigned());
        }
        if self.node.as_ref() != Some(&head.node) {
            let place = format!("the segment that begins with line {first} is another node's");
            return Err(Broken::at(first, Refusal::WrongSigner, place));
        }
        if first > next {
            let place = format!("lines {next} to {} are missing", first - 1);
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        let fits = head.frontier == self.state.frontier && head.previous == self.state.previous;
        if first < next || !fits {
            let place = format!(
                "the segment that begins with line {first} does not go on where the one before it ends"
            );
            return Err(Broken::at(first, Refusal::ChainBroken, place));
        }
        if !document.is_continued_by(&head.document) && !head.document.is_continued_by(document) {
            let place = format!("the segment that begins with line {first} is another identity's");
            return Err(Broken::at(first, Refusal::WrongSigner, place));
        }
        // A later document of the same identity knows more keys.
        if document.is_continued_by(&head.document) {
            self.document = Some(head.document.clone());
        }
        Ok(())
    }

    fn line(&mut self, line: &Line) -> Result<(), Broken> {
        let next = self.next_line();
        let Some(document) = &self.document else {
            return Err(Broken::at(
                next,
                Refusal::ChainStartMissing,
                "there is no head before the first line",
            ));
        };
        let receipt = &line.receipt;
        if receipt.by.agent != document.id() {
            let place = format!("line {next} is by another identity");
            return Err(Broken::at(next, Refusal::WrongSigner, place));
        }
        if receipt.index > next {
            let place = format!("lines {next} to {} are missing", receipt.index - 1);
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        if receipt.index < next {
            let place = format!("line {} stands where line {next} belongs", receipt.index);
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        if receipt.previous != self.state.previous {
            let place = match next.checked_sub(1) {
                Some(before) => {
                    format!("line {next} does not follow line {before}: one of them was changed")
                }
                None => "the first line does not begin a log".to_owned(),
            };
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        if receipt.at_ms < self.state.at_ms {
            let place = format!("line {next} is older than the line before it");
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        self.state.frontier.append(&line.payload);
        self.state.previous = Some(line.id);
        self.state.at_ms = receipt.at_ms;
        if receipt.action == Action::GAP.0 {
            self.gaps += 1;
        }
        self.segment_left(line);
        self.compare_known()
    }

    /// Whether this record says that the segment before the first one here left.
    fn segment_left(&mut self, line: &Line) {
        let (Some(before), Some(segment)) = (&self.before, &line.content.segment) else {
            return;
        };
        let about = |s: &SegmentFacts| (s.next, s.head, s.root);
        let how = match &*line.receipt.action {
            action if action == Action::ARCHIVE.0 => Left::Archived,
            action if action == Action::REMOVE.0 => Left::Removed,
            _ => return,
        };
        if about(before) == about(segment) {
            self.left = Some(how);
        }
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) -> Result<(), Broken> {
        let next = self.next_line();
        if next == self.signed {
            // A batch has records: a checkpoint over none was put in.
            let place = "a checkpoint stands where no line was added";
            return Err(Broken::at(next, Refusal::ChainBroken, place));
        }
        let about = |text: &str| match next - self.signed {
            0 => format!(
                "the checkpoint after line {}: {text}",
                next.saturating_sub(1)
            ),
            1 => format!("line {} and its checkpoint: {text}", self.signed),
            _ => format!(
                "lines {} to {} and their checkpoint: {text}",
                self.signed,
                next - 1
            ),
        };
        if checkpoint.size != next {
            let text = format!("it was signed over {} lines", checkpoint.size);
            return Err(Broken::at(self.signed, Refusal::ChainBroken, about(&text)));
        }
        if checkpoint.root != self.state.frontier.root() {
            let text = "one of them was changed";
            return Err(Broken::at(self.signed, Refusal::RootMismatch, about(text)));
        }
        if checkpoint.at < self.state.signed_at {
            let text = "it is older than the one before it";
            return Err(Broken::at(self.signed, Refusal::ChainBroken, about(text)));
        }
        if self.signatures == Signatures::All {
            self.check_signature(checkpoint)
                .map_err(|reason| Broken::at(self.signed, reason, about("it was not signed so")))?;
        }
        self.begun = false;
        self.signed = next;
        self.state.signed_at = checkpoint.at;
        self.checkpoints += 1;
        self.last = Some(checkpoint.clone());
        Ok(())
    }

    fn check_signature(&self, checkpoint: &Checkpoint) -> Result<(), Refusal> {
        let document = self.document.as_ref().ok_or(Refusal::DocumentMissing)?;
        checkpoint.verify(document, &Anchors::none())
    }

    /// Compares the kept checkpoint as soon as the log is as long as it was then.
    fn compare_known(&mut self) -> Result<(), Broken> {
        let Some(known) = self
            .known
            .as_ref()
            .filter(|known| known.size == self.next_line())
        else {
            return Ok(());
        };
        let line = known.size.saturating_sub(1);
        let held = self.check_signature(known);
        held.map_err(|reason| Broken::at(line, reason, "the kept checkpoint"))?;
        if known.root != self.state.frontier.root() {
            let place =
                format!("lines 0 to {line} are not those that the kept checkpoint was signed over");
            return Err(Broken::at(line, Refusal::RootMismatch, place));
        }
        self.known_checked = true;
        Ok(())
    }

    fn unsigned(&self) -> Broken {
        let next = self.next_line();
        let place = format!(
            "lines {} to {} have no checkpoint after them",
            self.signed,
            next - 1
        );
        Broken::at(self.signed, Refusal::LogUnsigned, place)
    }

    /// The log ends here.
    ///
    /// # Errors
    /// Lines without a checkpoint; a kept checkpoint that goes further than the log, or not as far
    /// as its first line here.
    pub fn finish(&self) -> Result<Verified, Broken> {
        let next = self.next_line();
        if self.signed < next {
            return Err(self.unsigned());
        }
        if self.begun {
            // A head is written together with its first batch: alone it is what a cut left.
            let place =
                format!("the segment that begins with line {next} was cut off behind its head");
            return Err(Broken::at(next, Refusal::LogUnsigned, place));
        }
        if let Some(known) = self.known.as_ref().filter(|_| !self.known_checked) {
            if known.size > next {
                let place = format!(
                    "lines {next} to {} were cut off: the kept checkpoint has them",
                    known.size - 1
                );
                return Err(Broken::at(next, Refusal::LogTruncated, place));
            }
            let place = format!(
                "the log begins with line {} here, and the kept checkpoint ends before",
                self.first
            );
            return Err(Broken::at(known.size, Refusal::ChainStartMissing, place));
        }
        if let (Signatures::Last, Some(last)) = (self.signatures, &self.last) {
            let held = self.check_signature(last);
            held.map_err(|reason| {
                Broken::at(next.saturating_sub(1), reason, "the last checkpoint")
            })?;
        }
        let (Some(document), Some(node)) = (self.document.clone(), self.node.clone()) else {
            let place = "there is no log";
            return Err(Broken::at(0, Refusal::ChainStartMissing, place));
        };
        if self.signatures == Signatures::All && self.first > 0 && self.left.is_none() {
            let place = format!(
                "lines 0 to {} are missing, and no record says that they were archived or removed",
                self.first - 1
            );
            return Err(Broken::at(0, Refusal::ChainStartMissing, place));
        }
        Ok(Verified {
            document,
            node,
            left: self.left,
            first: self.first,
            lines: next,
            checkpoints: self.checkpoints,
            gaps: self.gaps,
            last: self.last.clone(),
            known_checked: self.known_checked,
        })
    }
}
