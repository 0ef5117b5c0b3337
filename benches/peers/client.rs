//! A client with one connection, which costs little beside the server: a request, its answer, and the time between.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A connection that is kept open.
pub struct Client {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

/// Status and body of an answer.
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    pub link: String,
    pub etag: String,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("connects");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a socket");
        Self { stream: BufReader::new(stream), address }
    }

    pub fn call(&mut self, method: &str, path: &str, body: &str) -> Answer {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let request = [head.as_bytes(), body.as_bytes()].concat();
        self.stream.get_mut().write_all(&request).expect("sends");
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a status");
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let (mut length, mut link, mut etag) = (0, String::new(), String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("a header");
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().expect("a length");
            } else if name.eq_ignore_ascii_case("link") {
                value.clone_into(&mut link);
            } else if name.eq_ignore_ascii_case("etag") {
                value.clone_into(&mut etag);
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        Answer { status, body, link, etag }
    }

    /// A read that must succeed, as text.
    pub fn get(&mut self, path: &str) -> String {
        let answer = self.call("GET", path, "");
        let text = String::from_utf8(answer.body).expect("text");
        assert_eq!(answer.status, 200, "{path}: {text}");
        text
    }

    /// A publish or a batch of publishes that must succeed. Waits and repeats when the server has no room.
    pub fn publish(&mut self, path: &str, body: &str) {
        loop {
            let answer = self.call("POST", path, body);
            match answer.status {
                200 | 201 => return,
                503 => std::thread::sleep(Duration::from_millis(50)),
                status => panic!("{status}: {}", String::from_utf8_lossy(&answer.body)),
            }
        }
    }
}

/// Sends requests at a steady rate until it is told to stop. Returns the times from the moment at which each should have been
/// sent: a slow answer also counts for the requests that waited behind it.
pub fn paced(rate: f64, mut request: impl FnMut(), go_on: impl Fn() -> bool) -> Vec<f64> {
    let (begun, mut times) = (Instant::now(), Vec::new());
    while go_on() {
        let due = begun + Duration::from_secs_f64(times.len() as f64 / rate);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        request();
        times.push(due.elapsed().as_secs_f64());
    }
    times
}

/// The time that a part of the requests did not exceed.
pub fn quantile(times: &mut [f64], part: f64) -> f64 {
    assert!(!times.is_empty(), "no requests");
    times.sort_unstable_by(f64::total_cmp);
    let place = (times.len() as f64 * part).ceil() as usize;
    times[place.clamp(1, times.len()) - 1]
}
