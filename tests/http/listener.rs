//! A client of a stream: one connection, read as server-sent events.

use std::fmt::Display;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::{PATIENCE, Server, host_ids};

/// One event, or a block without one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    /// The event's name; empty for a block without data.
    pub(crate) event: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
    /// Lines that begin with a colon.
    pub(crate) comments: usize,
}

/// An open stream.
pub(crate) struct Listener {
    stream: TcpStream,
    /// Received bytes that are not a whole chunk yet.
    raw: Vec<u8>,
    chunked: bool,
    /// Received text that is not a whole block yet.
    text: String,
    ended: bool,
    pub(crate) head: String,
    /// The id that a browser would send when it connects again.
    pub(crate) last_id: Option<String>,
}

impl Listener {
    /// Opens a user's stream; waits for the head.
    pub(crate) fn open(server: &Server, user: impl Display, last_id: Option<&str>) -> Self {
        let stream = TcpStream::connect(server.address).unwrap();
        Self::on(stream, user, last_id)
    }

    pub(crate) fn on(stream: TcpStream, user: impl Display, last_id: Option<&str>) -> Self {
        Self::with_version("1.1", stream, user, last_id)
    }

    /// A stream of a client of HTTP/1.0, or of HTTP/1.1.
    pub(crate) fn with_version(
        version: &str,
        mut stream: TcpStream,
        user: impl Display,
        last_id: Option<&str>,
    ) -> Self {
        let header = last_id.map_or_else(String::new, |id| format!("Last-Event-ID: {}\r\n", host_ids::cursor(id)));
        let path = format!("/v1/users/{user}/stream");
        let path = host_ids::target(&path);
        write!(stream, "GET {path} HTTP/{version}\r\nhost: localhost\r\n{header}\r\n").unwrap();
        Self::asked(stream, last_id)
    }

    /// Opens the feed of changes with this query, to go on after a position.
    pub(crate) fn of_changes(server: &Server, query: &str, last_id: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let header = last_id.map_or_else(String::new, |id| format!("Last-Event-ID: {id}\r\n"));
        let head = format!("GET /v1/changes?{query} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n");
        write!(stream, "{head}{header}\r\n").unwrap();
        Self::asked(stream, last_id)
    }

    /// Waits for the head of the answer.
    fn asked(stream: TcpStream, last_id: Option<&str>) -> Self {
        let mut listener = Self {
            stream,
            raw: Vec::new(),
            chunked: true,
            text: String::new(),
            ended: false,
            head: String::new(),
            last_id: last_id.map(str::to_owned),
        };
        let began = Instant::now();
        let end = loop {
            if let Some(end) = listener.raw.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end;
            }
            assert!(began.elapsed() < PATIENCE && !listener.ended, "no head");
            listener.receive(Duration::from_millis(100));
        };
        listener.head = String::from_utf8(listener.raw.drain(..end + 4).collect()).unwrap();
        listener.chunked = listener.head.contains("transfer-encoding: chunked");
        listener
    }

    /// Receives bytes within `patience`; false if none come.
    fn receive(&mut self, patience: Duration) -> bool {
        let mut bytes = [0; 65536];
        self.stream.set_read_timeout(Some(patience)).unwrap();
        match self.stream.read(&mut bytes) {
            Ok(0) => {
                self.ended = true;
                false
            }
            Ok(read) => {
                self.raw.extend_from_slice(&bytes[..read]);
                true
            }
            Err(e) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&e.kind()) => false,
            Err(e) if e.kind() == ErrorKind::ConnectionReset => {
                self.ended = true;
                false
            }
            Err(e) => panic!("{e}"),
        }
    }

    /// Moves whole chunks from `raw` to `text`.
    fn unchunk(&mut self) {
        if !self.chunked {
            let whole = std::str::from_utf8(&self.raw).map_or_else(|e| e.valid_up_to(), str::len);
            self.text.push_str(std::str::from_utf8(&self.raw[..whole]).unwrap());
            self.raw.drain(..whole);
            return;
        }
        while let Some(line) = self.raw.windows(2).position(|bytes| bytes == b"\r\n") {
            let size = std::str::from_utf8(&self.raw[..line]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            if self.raw.len() < line + 2 + size + 2 {
                return;
            }
            self.text.push_str(std::str::from_utf8(&self.raw[line + 2..line + 2 + size]).unwrap());
            self.raw.drain(..line + 2 + size + 2);
            self.ended |= size == 0;
        }
    }

    /// The next block; `None` if there is none within `patience`, or the stream has ended.
    pub(crate) fn block(&mut self, patience: Duration) -> Option<Sent> {
        let began = Instant::now();
        loop {
            self.unchunk();
            if let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                return Some(self.parse(&host_ids::told(&block)));
            }
            let left = patience.saturating_sub(began.elapsed());
            if self.ended || left.is_zero() {
                return None;
            }
            self.receive(left);
        }
    }

    fn parse(&mut self, block: &str) -> Sent {
        let mut sent = Sent { event: String::new(), id: None, data: Value::Null, comments: 0 };
        for line in block.lines().filter(|line| !line.is_empty()) {
            match line.split_once(": ") {
                Some(("id", id)) => {
                    self.last_id = Some(id.to_owned());
                    sent.id = Some(id.to_owned());
                }
                Some(("event", event)) => sent.event = event.to_owned(),
                Some(("data", data)) => sent.data = serde_json::from_str(data).unwrap(),
                _ if line.starts_with(':') => sent.comments += 1,
                _ => panic!("{line:?}"),
            }
        }
        sent
    }

    /// The next event. One must come.
    pub(crate) fn event(&mut self) -> Sent {
        let began = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let block = self.block(left).unwrap_or_else(|| panic!("no event; ended: {}", self.ended));
            if !block.event.is_empty() {
                return block;
            }
        }
    }

    /// The next event, which must be the publish of an item.
    pub(crate) fn content(&mut self) -> u64 {
        let sent = self.event();
        assert_eq!(sent.event, "content", "{sent:?}");
        let field = |name: &str| sent.data[name].to_string().trim_matches('"').to_owned();
        assert_eq!(sent.id, Some(format!("{}-{}", field("published_at"), field("content_id"))));
        field("content_id").parse().unwrap()
    }

    /// Checks that no event comes in the time that one could take.
    pub(crate) fn is_quiet(&mut self) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(300) {
            let block = self.block(Duration::from_millis(300));
            assert!(block.as_ref().is_none_or(|block| block.event.is_empty()), "{block:?}");
        }
    }

    /// Whether the server ends the stream.
    pub(crate) fn ends(&mut self) -> bool {
        let began = Instant::now();
        while self.block(PATIENCE.saturating_sub(began.elapsed())).is_some() {}
        self.ended
    }
}
