//! Reading a stream of server-sent events.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

use super::client::{PATIENCE, Server};

/// One event.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) event: String,
    pub(crate) id: Option<String>,
    pub(crate) data: Value,
}

/// An open stream.
pub(crate) struct Stream {
    lines: BufReader<Box<dyn Read>>,
    /// How many comment lines have come.
    pub(crate) comments: usize,
}

impl Stream {
    /// Opens the stream of a user, perhaps after the last event seen.
    pub(crate) fn open(server: &Server, user: u64, last: Option<&str>) -> Self {
        let agent: Agent =
            Agent::config_builder().http_status_as_error(false).timeout_recv_response(Some(PATIENCE)).build().into();
        let url = format!("http://{}/v1/users/{user}/stream", server.address);
        let mut request = Request::builder().method("GET").uri(url).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let answer = agent.run(request.body(()).unwrap()).unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        Self { lines: BufReader::new(Box::new(answer.into_body().into_reader())), comments: 0 }
    }

    /// The next event, which must come.
    pub(crate) fn next(&mut self) -> Event {
        let mut event = Event::default();
        let mut data = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the stream ended");
            let line = line.trim_end_matches(['\r', '\n']);
            if line.is_empty() {
                if event.event.is_empty() && data.is_empty() {
                    continue;
                }
                event.data = serde_json::from_str(&data).unwrap_or(Value::Null);
                return event;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" => self.comments += 1,
                "event" => event.event = value.to_owned(),
                "id" => event.id = Some(value.to_owned()),
                "data" => data.push_str(value),
                "retry" => {}
                other => panic!("unknown field {other:?} in {line:?}"),
            }
        }
    }

    /// The next event, of which only the name and the item matter.
    pub(crate) fn expect(&mut self, name: &str, item: u64) -> Event {
        let event = self.next();
        assert_eq!((event.event.as_str(), &event.data["content_id"]), (name, &item.to_string().into()), "{event:?}");
        event
    }
}
