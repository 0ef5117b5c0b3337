//! Names of environment variables: settings, and near misses.

use std::ffi::OsStr;

use toml::Table;

/// Prefix of our variables.
const OURS: &str = "TIDELINE_";
/// Prefix of settings: `TIDELINE__TIMELINE__INBOX_LIMIT` is `timeline.inbox_limit`.
const SETTING: &str = "TIDELINE__";
/// The rest of the names of variables for programs that call a server: its key, and its address. They are no settings.
const OF_CLIENTS: [&str; 2] = ["KEY", "URL"];
/// Kubernetes sets it in every container.
const KUBERNETES: &str = "KUBERNETES_SERVICE_HOST";

/// Whether a variable is meant for us. Kubernetes describes a service of our name to every container beside it; these
/// variables are not ours: `TIDELINE_SERVICE_HOST`, `TIDELINE_PORT_8080_TCP_ADDR` and the like.
pub(super) fn is_ours(name: &OsStr, in_kubernetes: bool) -> bool {
    let Some(rest) = name.as_encoded_bytes().strip_prefix(OURS.as_bytes()) else { return false };
    if OF_CLIENTS.iter().any(|name| rest == name.as_bytes()) {
        return false;
    }
    if !in_kubernetes || rest.starts_with(b"_") {
        return true;
    }
    // The service's name may be longer: `TIDELINE_API_PORT`.
    let rest = format!("_{}", String::from_utf8_lossy(rest));
    let port = rest.rfind("_PORT").map(|at| &rest[at + "_PORT".len()..]);
    let is_port = port.is_some_and(|port| port.is_empty() || port.starts_with('_'));
    !(rest.ends_with("_SERVICE_HOST") || is_port)
}

/// Whether the variables are those of a Kubernetes container.
pub(super) fn in_kubernetes<'a>(mut names: impl Iterator<Item = &'a OsStr>) -> bool {
    names.any(|name| name == KUBERNETES)
}

/// The section and the name of the setting of a variable, if it exists.
pub(super) fn setting(name: &str, defaults: &Table) -> Option<(String, String)> {
    let path = name.strip_prefix(SETTING)?.to_ascii_lowercase();
    let (section, key) = path.split_once("__")?;
    defaults.get(section)?.get(plural(section, key).unwrap_or(key))?;
    Some((section.to_owned(), key.to_owned()))
}

/// The list that a setting for one entry stands for.
pub(super) fn plural(section: &str, key: &str) -> Option<&'static str> {
    match (section, key) {
        ("auth", "jwt_secret") => Some("jwt_secrets"),
        ("auth", "jwt_public_key") => Some("jwt_public_keys"),
        _ => None,
    }
}

/// A question for the settings with the names nearest to this one, sections first, written by `form`; empty if all differ
/// in more than a third of the letters.
pub(super) fn meant(name: &str, defaults: &Table, form: fn(&str, &str) -> String) -> String {
    let letters = |text: &str| text.replace(['_', '.'], "").to_ascii_lowercase();
    let meant = letters(name);
    let sections = defaults.iter().filter_map(|(section, values)| Some((section, values.as_table()?)));
    let settings = sections.flat_map(|(section, values)| values.keys().map(move |key| (section, key)));
    let mut near: Vec<_> = settings
        .map(|(section, key)| {
            let whole = strsim::damerau_levenshtein(&letters(&format!("{section}{key}")), &meant);
            // Users often forget the section.
            let alone = strsim::damerau_levenshtein(&letters(key), &meant);
            (whole.min(alone), section, key)
        })
        .collect();
    near.sort();
    let least = near.first().map_or(usize::MAX, |(distance, ..)| *distance);
    if least > meant.len() / 3 {
        return String::new();
    }
    let nearest = near.iter().take_while(|(distance, ..)| *distance == least);
    format!("; did you mean {}?", nearest.map(|(_, section, key)| form(section, key)).collect::<Vec<_>>().join(" or "))
}

/// The message that a variable is not a setting, with similar settings.
pub(super) fn no_setting(name: &str, defaults: &Table) -> String {
    let form =
        |section: &str, key: &str| format!("{SETTING}{}__{}", section.to_ascii_uppercase(), key.to_ascii_uppercase());
    let meant = meant(name.strip_prefix(OURS).unwrap_or(name), defaults, form);
    let advice = ". Names look like TIDELINE__TIMELINE__INBOX_LIMIT; \"tideline config\" lists all settings. Unset or rename \
                  the variable";
    format!("{name} is not a setting{}", if meant.is_empty() { advice } else { &meant })
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn the_nearest_setting_is_named() {
        let defaults = Table::try_from(Config::default()).expect("a table");
        for (name, near) in [
            ("TIDELINE_LISTEN", "did you mean TIDELINE__SERVER__LISTEN?"),
            ("TIDELINE_SERVER_LISTEN", "did you mean TIDELINE__SERVER__LISTEN?"),
            ("TIDELINE_TIMELINE_INBOX_LIMIT", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE_TIMELINE__INBOX_LIMIT", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE__TIMELINE_INBOX_LIMIT", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE__TIMELINE__INBOXLIMIT", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE__TIMELINE__INBOX_LIMT", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE___TIMELINE__INBOX_LIMIT", "did you mean TIDELINE__TIMELINE__INBOX_LIMIT?"),
            ("TIDELINE_DATA_DIR", "did you mean TIDELINE__STORAGE__DATA_DIR?"),
            ("TIDELINE_DATADIR", "did you mean TIDELINE__STORAGE__DATA_DIR?"),
            ("TIDELINE__TIMELINE__DURABILITY", "is not a setting. Names look like TIDELINE__TIMELINE__INBOX_LIMIT; "),
            ("TIDELINE_WORKERS", "did you mean TIDELINE__FANOUT__WORKERS or TIDELINE__SERVER__WORKERS?"),
            ("TIDELINE_COLOUR_OF_THE_SEA", "is not a setting. Names look like TIDELINE__TIMELINE__INBOX_LIMIT; "),
            ("TIDELINE_", "is not a setting. Names look like TIDELINE__TIMELINE__INBOX_LIMIT; "),
        ] {
            let said = no_setting(name, &defaults);
            assert!(said.starts_with(name) && said.contains(near), "{said}");
            assert_eq!(setting(name, &defaults), None, "{name}");
        }
        let right = setting("TIDELINE__TIMELINE__INBOX_LIMIT", &defaults);
        assert_eq!(right, Some(("timeline".to_owned(), "inbox_limit".to_owned())));
    }

    #[test]
    fn variables_of_kubernetes_are_no_settings() {
        for name in [
            "TIDELINE_SERVICE_HOST",
            "TIDELINE_SERVICE_PORT",
            "TIDELINE_SERVICE_PORT_HTTP",
            "TIDELINE_PORT",
            "TIDELINE_PORT_8080_TCP",
            "TIDELINE_PORT_8080_TCP_ADDR",
            "TIDELINE_API_SERVICE_HOST",
            "TIDELINE_API_PORT_80_TCP_PROTO",
        ] {
            assert!(!is_ours(name.as_ref(), true), "{name}");
            assert!(is_ours(name.as_ref(), false), "{name}: elsewhere somebody has set it");
        }
        for name in ["TIDELINE_LISTEN", "TIDELINE_PORTS", "TIDELINE__SERVER__PORT", "TIDELINE_HOST"] {
            assert!(is_ours(name.as_ref(), true), "{name}");
        }
        for name in ["TIDELINE", "TIDELINE_KEY", "TIDELINE_URL", "TIDELINES_X", "MY_TIDELINE_X", "tideline_x"] {
            assert!(!is_ours(name.as_ref(), false), "{name}");
        }
        assert!(in_kubernetes([OsStr::new("A"), OsStr::new(KUBERNETES)].into_iter()));
        assert!(!in_kubernetes([OsStr::new("A")].into_iter()));
    }
}
