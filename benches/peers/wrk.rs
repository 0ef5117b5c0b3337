//! Load by `wrk`.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::opened::Ids;

pub const CONNECTIONS: u32 = 16;
/// Threads of the load. With one, a tenth to a fifth of two processors is idle, and the load bounds the rate.
pub const THREADS: u32 = 2;

/// Writes a script that asks for pages of random users; `path` has `{}` in place of the user.
pub fn script(dir: &Path, name: &str, users: impl Iterator<Item = impl Display>, path: &str) -> PathBuf {
    let path = path.replace("{}", "' .. users[math.random(#users)] .. '");
    let request = format!("request = function() return wrk.format('GET', '{path}') end");
    write(dir, name, &format!("local users = {}\n{request}", list(users)))
}

/// Writes a script that asks whether the pages of random users are still those with these tags; `path` has `{}` in place of
/// the user.
pub fn refreshes(dir: &Path, name: &str, pages: &[(impl Display, String)], path: &str) -> PathBuf {
    let path = path.replace("{}", "' .. users[n] .. '");
    let (users, tags) = (list(pages.iter().map(|(user, _)| user)), list(pages.iter().map(|(_, tag)| tag)));
    let text = format!(
        "local users, tags = {users}, {tags}
         request = function()
           local n = math.random(#users)
           return wrk.format('GET', '{path}', {{['if-none-match'] = tags[n]}})
         end"
    );
    write(dir, name, &text)
}

/// Writes a script that publishes new items of random authors; their ids follow from the numbers after `first`.
pub fn publishes(dir: &Path, name: &str, ids: Ids, authors: impl Iterator<Item = impl Display>, first: u64) -> PathBuf {
    let id = match ids {
        Ids::Numbers => "string.format('%d', n)",
        // The first digits of two successive ids differ, as those of UUIDs do.
        Ids::Names => "string.format('%08x-0000-4000-8000-%012x', n * 40503 % 2147483647, n)",
    };
    let text = format!(
        "local authors, n = {}, 0
         request = function()
           n = n < {first} and {first} + place or n + {THREADS}
           local body = string.format('{{\"content_id\":\"%s\",\"author_id\":\"%s\",\"published_at\":%d}}',
             {id}, authors[math.random(#authors)], 1700000000000 + n)
           return wrk.format('POST', '/v1/content', {{['content-type'] = 'application/json'}}, body)
         end",
        list(authors)
    );
    write(dir, name, &text)
}

/// A list in Lua.
fn list(users: impl Iterator<Item = impl Display>) -> String {
    format!("{{{}}}", users.map(|user| format!("'{user}'")).collect::<Vec<_>>().join(","))
}

/// Writes a script. Each thread runs it by itself, with its `place` from 0 on, and draws other numbers.
fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    const PLACES: &str = "local threads = 0
        setup = function(thread)
          thread:set('place', threads)
          threads = threads + 1
        end
        init = function() math.randomseed(1 + place) end";
    let file = dir.join(format!("{name}.lua"));
    std::fs::write(&file, format!("{PLACES}\n{text}\n")).expect("writes");
    file
}

/// Requests per second.
pub fn load(address: &str, script: &Path, seconds: u32) -> f64 {
    let mut command = Command::new("wrk");
    command.args([&format!("-t{THREADS}"), &format!("-c{CONNECTIONS}"), &format!("-d{seconds}"), "-s"]).arg(script);
    let output = command.arg(format!("http://{address}")).output().expect("wrk runs");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!report.contains("Non-2xx") && !report.contains("Socket errors"), "errors: {report}");
    let rate = report.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok()).unwrap_or_else(|| panic!("no rate: {report}"))
}
