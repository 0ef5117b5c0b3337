//! `tideline key`: makes keys, and hashes of keys.

use std::io::Read as _;

use clap::Subcommand;

use crate::prelude::*;
use config::{KeyHash, WebhookSecret, base64url};

/// A mark by which scanners of source code recognize a key.
const MARK: &str = "tlk_";
/// Most bytes of a key on stdin.
const LONGEST: u64 = 8 << 10;

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key: the first line is for the client, the second, its hash, for the settings of the server
    New(NewArgs),
    /// Read a key from stdin and print its hash
    Hash,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The key is for calls that change nothing
    #[arg(long, conflicts_with = "metrics")]
    read: bool,
    /// The key is for the metrics only
    #[arg(long)]
    metrics: bool,
    /// Make a secret that signs the requests of a webhook, in place of a key
    #[arg(long, conflicts_with_all = ["read", "metrics"])]
    webhook: bool,
}

pub(crate) fn run(command: &KeyCommand) -> Result<()> {
    match command {
        KeyCommand::New(args) => make(args),
        KeyCommand::Hash => hash(),
    }
}

fn make(args: &NewArgs) -> Result<()> {
    let mut secret = [0; 32];
    aws_lc_rs::rand::fill(&mut secret).map_err(|_| Error::Setup("the system gives no random numbers".to_owned()))?;
    if args.webhook {
        print_line(WebhookSecret::written(&secret))?;
        say("A line for the file of webhooks.secret_file, and for the receiver");
        return Ok(());
    }
    let key = format!("{MARK}{}", base64url(&secret));
    let hash = KeyHash::of(key.as_bytes());
    print_line(format_args!("{key}\n{hash}"))?;
    let setting = match () {
        () if args.metrics => "metrics_keys",
        () if args.read => "read_keys",
        () => "keys",
    };
    say(format_args!(
        "The first line is the key, for the client. The second line is its hash, for auth.{setting}:\n{setting} = \
         [\"{hash}\"]"
    ));
    Ok(())
}

fn hash() -> Result<()> {
    let wrong = |what: &str| Error::Setup(format!("the key on stdin: {what}"));
    let mut text = String::new();
    std::io::stdin().take(LONGEST).read_to_string(&mut text).map_err(|e| wrong(&e.to_string()))?;
    if text.starts_with("sha256:") {
        return Err(wrong("it is a hash already"));
    }
    let hash = KeyHash::of_good(text.trim()).map_err(wrong)?;
    print_line(hash)
}
