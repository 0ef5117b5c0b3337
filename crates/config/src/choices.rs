//! Choices among a few words.

use std::str::FromStr;

use super::text::words;

words! {
    /// A kind of changes that a user token may make as its user.
    Act {
        /// Follow and unfollow.
        Follow = "follow",
        /// React, and take a reaction back.
        React = "react",
        /// Comment.
        Comment = "comment",
        /// Mute, and hide the own content.
        Mute = "mute",
        /// Block.
        Block = "block",
        /// Keep lists.
        Lists = "lists",
        /// Decide about followers.
        Requests = "requests",
        /// Move markers.
        Marker = "marker",
        /// Be present.
        Presence = "presence",
    }
}

impl Act {
    /// Those that tokens may do by default.
    pub fn usual() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|act| *act != Self::Comment).collect()
    }
}

words! {
    /// The reads that user tokens may make.
    UsersRead {
        /// Those of the user's own pages, lists and relations.
        Own = "own",
        /// Those of all that the user may see, too.
        Visible = "visible",
    }
}

words! {
    /// The moment at which a change counts as on disk.
    Durability {
        /// Flushed to the device before the answer; survives a power cut.
        Sync = "sync",
        /// Handed to the operating system before the answer; survives `kill -9`, not a power cut.
        Os = "os",
    }
}

words! {
    /// The ids that requests and imports may have.
    AcceptedIds {
        /// Numbers and names: any text of 1 to 128 bytes without control characters.
        Any = "any",
        /// Whole numbers from 1 to 2^63-1. Names that are stored already are still shown.
        Numbers = "numbers",
    }
}

words! {
    /// Format of log lines.
    LogFormat {
        /// For people.
        Text = "text",
        /// One JSON object a line.
        Json = "json",
    }
}

words! {
    /// The reads of changes that other nodes have acknowledged: how much a read waits for.
    Consistency {
        /// All changes that any node acknowledged before the read.
        Strict = "strict",
        /// All changes up to the position that the client names.
        Session = "session",
        /// The changes that this node has applied.
        Local = "local",
    }
}

words! {
    /// The proof of identity to the brokers.
    Sasl {
        /// None.
        Off = "none",
        /// User and password as they are; use it over TLS only.
        Plain = "PLAIN",
        /// A challenge with SHA-256.
        ScramSha256 = "SCRAM-SHA-256",
        /// A challenge with SHA-512.
        ScramSha512 = "SCRAM-SHA-512",
    }
}

words! {
    /// The calls that a key may make.
    KeyRole {
        /// All calls.
        Full = "full",
        /// Calls that change nothing.
        Read = "read",
        /// The metrics.
        Metrics = "metrics",
    }
}

impl FromStr for Consistency {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let found = Self::ALL.iter().find(|consistency| consistency.as_str() == text);
        found.copied().ok_or("expected \"strict\", \"session\" or \"local\"")
    }
}
