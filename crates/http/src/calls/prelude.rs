//! The names that nearly every file of calls uses.

pub(super) use serde::{Deserialize, Serialize};
pub(super) use serde_json::json;
pub(super) use utoipa::ToSchema;

pub(super) use crate::call::Call;
pub(super) use crate::endpoint::{Endpoint, Takes, delete, get, group, parameters, patch, post, put};
pub(super) use crate::guards::auth::TokenUse;
pub(super) use crate::route_info::{BodyKind, OfOwner};
pub(super) use crate::wire::problem::Problem;
pub(super) use crate::wire::query;
pub(super) use crate::wire::reply::{self, Answer};
pub(super) use config::Act;
pub(super) use feed::{Feed, Read};
pub(super) use model::error::{Code, Error, Result};
pub(super) use model::schemas;
