//! The files of the console, on which people see a timeline and use the server.
//!
//! Its files are in `console/`, and the binary has them as they are: there is no build step. The server puts the modules
//! together into one script when it is first asked for. They load nothing from other servers, and their policy forbids that.
//! The address of each file has a version, so that browsers keep it; all addresses are relative, so the console works below
//! any path.

use std::collections::HashMap;
use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_128;

use super::bundle;
use super::web_files::WebFile;

/// The files by their paths in `console/`.
macro_rules! files {
    ($($path:literal)+) => {
        [$(($path, include_bytes!(concat!("../../../../console/", $path)) as &[u8])),+]
    };
}

/// The sources. A test compares them with the directory.
static SOURCES: &[(&str, &[u8])] = &files! {
    "about.js"
    "account.js"
    "api.js"
    "backups.js"
    "body.js"
    "box.js"
    "changes.js"
    "chart.js"
    "check.js"
    "compose.js"
    "console.css"
    "content.js"
    "dashboard.js"
    "docs.js"
    "feed.js"
    "feedlist.js"
    "feeds.js"
    "found.js"
    "head.js"
    "health.js"
    "history.js"
    "icons.js"
    "item.js"
    "keys.js"
    "kinds.js"
    "lists.js"
    "lookup.js"
    "main.js"
    "mode.js"
    "moderation.js"
    "nobody.js"
    "notices.js"
    "parts.js"
    "people.js"
    "refusals.js"
    "route.js"
    "session.js"
    "settings.js"
    "signin.js"
    "start.js"
    "stream.js"
    "sweep.js"
    "tabs.js"
    "texts.js"
    "texts/en.js"
    "texts/zh.js"
    "theme.js"
    "tiles.js"
    "timeline.js"
    "token.js"
    "user.js"
    "userbox.js"
    "vendor/hooks.js"
    "vendor/htm.js"
    "vendor/preact.js"
    "view.js"
};

/// The parts of the page as they are served, by their names: the style sheet, and all modules as one script.
pub(super) static PARTS: LazyLock<HashMap<&str, WebFile>> = LazyLock::new(|| {
    let script = bundle::script(MAIN, source);
    let style = source(STYLE).unwrap_or_default();
    HashMap::from([
        (MAIN, WebFile::new("text/javascript; charset=utf-8", script)),
        (STYLE, WebFile::new("text/css; charset=utf-8", style)),
    ])
});

/// The module that starts the page, and its style sheet.
const MAIN: &str = "main.js";
const STYLE: &str = "console.css";

/// The text of a source.
fn source(path: &str) -> Option<&'static str> {
    let (_, bytes) = SOURCES.iter().find(|(name, _)| *name == path)?;
    str::from_utf8(bytes).ok()
}

pub(super) static PAGE: &str = include_str!("../../../../console/index.html");

/// Distinguishes the files of one release from those of another.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<_> =
        SOURCES.iter().flat_map(|(path, bytes)| [path.as_bytes(), bytes]).chain([PAGE.as_bytes()]).collect();
    format!("{:032x}", xxh3_128(&all.concat()))
});

/// Users choose the addresses of avatars. So the page shows no picture of this server: a user could make the browsers of
/// readers call the API. It shows those of the origins in the settings, because an operator may want their servers to
/// learn who reads. A `data:` picture loads nothing and runs no script, not even as SVG.
pub(super) const POLICY: &str = "default-src 'self'; img-src data:{avatars}; object-src 'none'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the script left as it was would be an error of the browser, or a module too early.
    #[test]
    fn the_script_has_each_module_once_after_those_that_it_needs() {
        let script = bundle::script(MAIN, source);
        for (path, _) in SOURCES.iter().filter(|(path, _)| *path != STYLE) {
            let (before, rest) = script.split_once(&format!("\n// {path}\n")).expect(path);
            assert_eq!(script.matches(&format!("\nmodules[\"{path}\"] = ")).count(), 1, "{path}");
            let (module, _) = rest.split_once("\n})();\n").expect(path);
            for needed in module.split(" = modules[\"").skip(1).filter_map(|rest| rest.split_once("\"]")) {
                assert!(before.contains(&format!("\n// {}\n", needed.0)), "{path} needs {}", needed.0);
            }
        }
        assert!(!["\nimport ", "\nexport ", "import{", "export{"].iter().any(|left| script.contains(left)));
    }
}
