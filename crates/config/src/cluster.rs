//! The values of the settings of a cluster: names, members, and the secrets of its command log.

use std::fmt;

use hyper::Uri;

use super::text::{as_text, is_name, shown_as_field};

/// Most members. Each node hashes all names for each reader that it looks up.
pub const MAX_MEMBERS: usize = 64;

/// The name of a node: 1 to 64 of `a-z A-Z 0-9 . _ -`. Owners of inboxes are chosen by it, so it stays with its data.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(String);

impl NodeName {
    /// The name as text; empty if none is set.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        let refusal = "a name of a node has 1 to 64 letters, digits, dots, hyphens and underscores";
        is_name(text).then(|| Self(text.to_owned())).ok_or(refusal)
    }
}

/// A member of the cluster: its name, and the URL at which the other members reach it. Written `name=url`.
#[derive(Clone, PartialEq, Eq)]
pub struct Member {
    /// The name.
    pub name: NodeName,
    /// `http://` or `https://`, host and port, and perhaps a path; without a slash at its end.
    pub url: String,
}

impl Member {
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "a member is written name=url, such as a=http://10.0.0.1:8080";
        const ADDRESS: &str = "the URL of a member has a host, and may have a port from 1 to 65535, such as \
                               a=http://[fd00::1]:8080";
        let (name, url) = text.split_once('=').ok_or(FORM)?;
        let name = NodeName::read(name.trim())?;
        let url = url.trim().trim_end_matches('/');
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")).ok_or(FORM)?;
        let is_plain = |b: u8| b.is_ascii_graphic() && !b"?#@\\\"<>".contains(&b);
        if name.as_str().is_empty() || !rest.bytes().all(is_plain) {
            return Err(FORM);
        }
        let place = url.parse::<Uri>().ok().and_then(|uri| uri.into_parts().authority).ok_or(ADDRESS)?;
        let has_port = place.as_str().len() > place.host().len();
        if place.host().is_empty() || has_port && place.port_u16().is_none_or(|port| port == 0) {
            return Err(ADDRESS);
        }
        Ok(Self { name, url: url.to_owned() })
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.url)
    }
}

/// A command of the log that all nodes refuse, written `OFFSET.COMMAND:HASH`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The offset of its record.
    pub offset: u64,
    /// Its number in the record, from 1.
    pub command: u64,
    /// The hash of the log up to the record, so that no other log is meant.
    pub hash: u64,
}

impl Refusal {
    fn read(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "a refused command is written OFFSET.COMMAND:HASH, as the message of the node that stopped";
        let (place, hash) = text.trim().split_once(':').ok_or(FORM)?;
        let (offset, command) = place.split_once('.').ok_or(FORM)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| FORM);
        let hash = u64::from_str_radix(hash, 16).ok().filter(|_| hash.len() == 16).ok_or(FORM)?;
        Ok(Self { offset: number(offset)?, command: number(command)?, hash })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}:{:016x}", self.offset, self.command, self.hash)
    }
}

/// The password of SASL. No output has it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The password itself; empty if none is set.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.chars().any(char::is_control) {
            return Err("a password has no control characters");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "" } else { "***" })
    }
}

as_text! { NodeName Member Refusal Password }
shown_as_field! { NodeName }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn a_member_has_a_name_and_a_url() {
        for (text, url) in [
            ("a=http://10.0.0.1:8080", "http://10.0.0.1:8080"),
            ("b=http://[fd00::1]:8080", "http://[fd00::1]:8080"),
            ("b=http://localhost", "http://localhost"),
            (" n-1.x_Y = https://n1.example.org/tideline/ ", "https://n1.example.org/tideline"),
        ] {
            assert_eq!(Member::read(text).expect(text).url, url);
        }
        for text in [
            "",
            "a",
            "=http://x",
            "a=",
            "a=ftp://x",
            "a=http://",
            "a=http:///x",
            "ä=http://x",
            "a=http://u@x",
            "a=http://x y",
            "a=http://fd00::2:8080",
            "a=http://:8080",
            "a=http://10.0.0.2:80800",
            "a=http://10.0.0.2:0",
            "a=http://10.0.0.2:",
        ] {
            assert!(Member::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_refused_command_is_read_as_it_is_written() {
        let refusal = Refusal { offset: 5213, command: 1, hash: 0x0F7C_5B1D_9A3E_4266 };
        assert_eq!(refusal.to_string(), "5213.1:0f7c5b1d9a3e4266");
        assert_eq!(Refusal::read(" 5213.1:0f7c5b1d9a3e4266"), Ok(refusal));
        for text in ["", "5213", "5213:0f7c5b1d9a3e4266", "5213.1", "5213.1:", "x.1:0f", "5213.1:0f7c5b1d9a3e42661"] {
            assert!(Refusal::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_output_has_the_password() {
        let password = Password::read("sesame").expect("fine");
        assert_eq!(format!("{password} {password:?}"), "*** ***");
        let mut config = Config::default();
        config.cluster.sasl_password = password;
        assert!(!config.to_toml().expect("writes").contains("sesame"));
    }
}
