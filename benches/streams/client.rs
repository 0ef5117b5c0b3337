//! Connections for changes and for streams.

use std::io::ErrorKind;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::net::TcpStream;

/// Waits for bytes and reads them; false at the end.
async fn receive(stream: &TcpStream, into: &mut Vec<u8>) -> bool {
    let mut bytes = [0; 16 << 10];
    loop {
        stream.readable().await.expect("a socket");
        match stream.try_read(&mut bytes) {
            Ok(0) => return false,
            Ok(read) => {
                into.extend_from_slice(&bytes[..read]);
                return true;
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
    }
}

async fn send(stream: &TcpStream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        stream.writable().await.expect("a socket");
        match stream.try_write(bytes) {
            Ok(sent) => bytes = &bytes[sent..],
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => panic!("{e}"),
        }
    }
}

fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|end| end + 4)
}

/// Calls one after the other on one connection.
pub(crate) struct Caller {
    stream: TcpStream,
}

impl Caller {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("connects");
        stream.set_nodelay(true).expect("a socket");
        Self { stream }
    }

    /// Makes a call that must succeed.
    pub(crate) async fn call(&mut self, method: &str, path: &str, body: &str) -> Value {
        let length = body.len();
        let request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}");
        send(&self.stream, request.as_bytes()).await;
        let mut answer = Vec::new();
        let (start, length) = loop {
            assert!(receive(&self.stream, &mut answer).await, "{method} {path}: cut");
            let Some(end) = head_end(&answer) else { continue };
            let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
            assert!(head.starts_with("http/1.1 2"), "{method} {path}: {head}");
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            break (end, length.map_or(0, |length| length.parse().expect("a length")));
        };
        while answer.len() < start + length {
            assert!(receive(&self.stream, &mut answer).await, "{method} {path}: cut");
        }
        serde_json::from_slice(&answer[start..]).unwrap_or_default()
    }
}

/// One block of a stream.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) id: Option<(u64, u64)>,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// An open stream.
pub(crate) struct Listener {
    stream: TcpStream,
    raw: Vec<u8>,
    text: String,
}

impl Listener {
    pub(crate) async fn open(address: SocketAddr, user: u64, after: Option<(u64, u64)>) -> Self {
        let stream = TcpStream::connect(address).await.expect("connects");
        let header = after.map_or_else(String::new, |(at, id)| format!("last-event-id: {at}-{id}\r\n"));
        let request = format!("GET /v1/users/{user}/stream HTTP/1.1\r\nhost: localhost\r\n{header}\r\n");
        send(&stream, request.as_bytes()).await;
        let mut raw = Vec::new();
        let end = loop {
            assert!(receive(&stream, &mut raw).await, "a stream was cut");
            if let Some(end) = head_end(&raw) {
                break end;
            }
        };
        assert!(raw.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&raw));
        raw.drain(..end);
        Self { stream, raw, text: String::new() }
    }

    /// Moves whole chunks from `raw` to `text`.
    fn unchunk(&mut self) {
        let mut done = 0;
        while let Some(line) = self.raw[done..].windows(2).position(|two| two == b"\r\n") {
            let size = std::str::from_utf8(&self.raw[done..done + line]).expect("a size");
            let start = done + line + 2;
            let end = start + usize::from_str_radix(size, 16).expect("a size");
            if self.raw.len() < end + 2 {
                break;
            }
            self.text.push_str(std::str::from_utf8(&self.raw[start..end]).expect("UTF-8"));
            done = end + 2;
        }
        self.raw.drain(..done);
    }

    /// Returns whole blocks: at least one, or none at the end.
    pub(crate) async fn blocks(&mut self) -> Vec<Block> {
        loop {
            self.unchunk();
            if let Some(end) = self.text.rfind("\n\n") {
                let rest = self.text.split_off(end + 2);
                let blocks = std::mem::replace(&mut self.text, rest);
                return blocks.split_terminator("\n\n").map(Block::parse).collect();
            }
            if !receive(&self.stream, &mut self.raw).await {
                return Vec::new();
            }
        }
    }
}

impl Block {
    fn parse(text: &str) -> Self {
        let mut block = Self::default();
        for line in text.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => block.id = id.split_once('-').map(|(at, id)| (number(at), number(id))),
                Some(("event", event)) => block.event = event.to_owned(),
                Some(("data", data)) => block.data = data.to_owned(),
                _ => assert!(line.starts_with(':'), "{line}"),
            }
        }
        block
    }
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

/// An id or a time of an answer.
pub(crate) fn field(value: &Value, name: &str) -> u64 {
    match &value[name] {
        Value::String(text) => number(text),
        other => other.as_u64().expect("a number"),
    }
}
