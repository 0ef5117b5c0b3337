//! Load by `wrk`.

use std::path::{Path, PathBuf};
use std::process::Command;

pub const CONNECTIONS: u32 = 16;

/// Writes a script that asks for pages of random users; `path` has `{}` in place of the user.
pub fn script(dir: &Path, name: &str, users: &[u64], path: &str) -> PathBuf {
    let list = users.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let path = path.replace("{}", "' .. readers[math.random(#readers)] .. '");
    let text = format!(
        "local readers = {{{list}}}
         request = function() return wrk.format('GET', '{path}') end"
    );
    let file = dir.join(format!("{name}.lua"));
    std::fs::write(&file, text).expect("writes");
    file
}

/// Requests per second.
pub fn load(address: &str, script: &Path, seconds: u32) -> f64 {
    let mut command = Command::new("wrk");
    command.args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{seconds}"), "-s"]).arg(script);
    let output = command.arg(format!("http://{address}")).output().expect("wrk runs");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!report.contains("Non-2xx") && !report.contains("Socket errors"), "errors: {report}");
    let rate = report.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    rate.and_then(|rate| rate.trim().parse().ok()).unwrap_or_else(|| panic!("no rate: {report}"))
}
