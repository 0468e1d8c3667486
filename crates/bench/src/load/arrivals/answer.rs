//! An HTTP/1.1 answer, read whole from a stream: with a length, in chunks, or without a body.

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::client::Failure;

/// An answer.
#[derive(Debug)]
pub struct Answer<'a> {
    /// HTTP status.
    pub status: u16,
    /// Between the status line and the empty line.
    head: &'a str,
    /// Whole, without the chunks' frames.
    pub body: &'a [u8],
}

impl<'a> Answer<'a> {
    /// An answer in one piece.
    #[must_use]
    pub fn new(status: u16, head: &'a str, body: &'a [u8]) -> Answer<'a> {
        Answer { status, head, body }
    }

    /// A header's first value; names are compared without regard to case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers(name).next()
    }

    /// A header's values.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let lines = self.head.lines();
        lines.filter_map(move |line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Whether the server refuses for load and says when to come again (RFC 6585 section 4, RFC
    /// 9110 section 15.6.4).
    #[must_use]
    pub fn is_shed(&self) -> bool {
        matches!(self.status, 429 | 503) && self.header("retry-after").is_some()
    }

    /// Status and the begin of the body: for messages.
    #[must_use]
    pub fn shown(&self) -> String {
        let body = String::from_utf8_lossy(&self.body[..self.body.len().min(200)]);
        format!("{} {body}", self.status)
    }
}

/// Buffers that a connection keeps.
#[derive(Default)]
pub(super) struct Reader {
    read: Vec<u8>,
    body: Vec<u8>,
    head_end: usize,
    status: u16,
    chunked: bool,
}

impl Reader {
    /// Reads one answer whole. Gives whether the connection stays open.
    pub(super) async fn read(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
    ) -> Result<bool, Failure> {
        self.read.clear();
        self.head_end = loop {
            if let Some(at) = self.read.windows(4).position(|four| four == b"\r\n\r\n") {
                break at;
            }
            self.more(stream).await?;
        };
        let head = std::str::from_utf8(&self.read[..self.head_end])?;
        self.status = head.get(9..12).ok_or("no status")?.parse()?;
        let parsed = Answer::new(self.status, head, b"");
        let length = parsed.header("content-length").map(str::parse::<usize>);
        let length = length.transpose()?;
        let encoding = parsed.header("transfer-encoding").unwrap_or_default();
        let stays = !parsed
            .header("connection")
            .is_some_and(|value| value.eq_ignore_ascii_case("close"));
        self.chunked = encoding.eq_ignore_ascii_case("chunked");
        let from = self.head_end + 4;
        if self.chunked {
            self.chunks(stream, from).await?;
            return Ok(stays);
        }
        // RFC 9112 section 6.3: without a length, such an answer has no body.
        let bodiless = matches!(self.status, 204 | 304);
        let whole = match (bodiless, length) {
            (true, _) => from,
            (false, Some(length)) => from + length,
            (false, None) => return Err("an answer without a length".into()),
        };
        while self.read.len() < whole {
            self.more(stream).await?;
        }
        if self.read.len() > whole {
            return Err("more than one answer".into());
        }
        Ok(stays)
    }

    async fn chunks(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        mut at: usize,
    ) -> Result<(), Failure> {
        self.body.clear();
        loop {
            let line = loop {
                let rest = &self.read[at..];
                if let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
                    break at + end;
                }
                self.more(stream).await?;
            };
            let size = std::str::from_utf8(&self.read[at..line])?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16)?;
            let end = line + 2 + size + 2;
            while self.read.len() < end {
                self.more(stream).await?;
            }
            if size == 0 {
                return Ok(());
            }
            self.body
                .extend_from_slice(&self.read[line + 2..line + 2 + size]);
            at = end;
        }
    }

    async fn more(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> Result<(), Failure> {
        match stream.read_buf(&mut self.read).await? {
            0 => Err("the server closed a connection".into()),
            _ => Ok(()),
        }
    }

    /// What was read last.
    pub(super) fn answer(&self) -> Answer<'_> {
        // It was read as UTF-8 already.
        let head = std::str::from_utf8(&self.read[..self.head_end]).unwrap_or_default();
        let body = match self.chunked {
            true => &self.body,
            false => self.read.get(self.head_end + 4..).unwrap_or_default(),
        };
        Answer::new(self.status, head, body)
    }
}
