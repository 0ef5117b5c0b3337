//! The names that nearly every file of the program uses.

pub(crate) use std::fmt::{self, Display};
pub(crate) use std::fs;
pub(crate) use std::io::{self, Read, Write};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::Arc;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use clap::Args;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Value, json};

pub(crate) use crate::cli::terminal::interrupt::Interrupt;
pub(crate) use crate::cli::terminal::progress::{Progress, Unit};
pub(crate) use crate::cli::{FAILURE, SUCCESS, print, print_line, say};
pub(crate) use crate::context::Context;
pub(crate) use crate::server::{self, App, StartOptions};
pub(crate) use config::Config;
pub(crate) use feed::Feed;
pub(crate) use feed::store::Store;
pub(crate) use model::clock::now;
pub(crate) use model::error::{Code, Error, Result};
pub(crate) use model::{ExternalId, Millis, UserId, private_files, threads};
