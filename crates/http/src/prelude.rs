//! The names that nearly every file with calls uses.

pub(crate) use std::sync::Arc;

pub(crate) use actix_web::http::StatusCode;
pub(crate) use actix_web::{HttpResponse, HttpResponseBuilder};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::json;
pub(crate) use utoipa::ToSchema;

pub(crate) use crate::api::Api;
pub(crate) use crate::call::Call;
pub(crate) use crate::endpoint::{Endpoint, Takes, endpoints, example, parameters, shape};
pub(crate) use crate::guards::auth::TokenUse;
pub(crate) use crate::limits::Holder;
pub(crate) use crate::pools::Wants;
pub(crate) use crate::route_info::{BodyKind, OfOwner};
pub(crate) use crate::wire::answers::answers;
pub(crate) use crate::wire::problem::{invalid_body, invalid_parameter};
pub(crate) use crate::wire::query;
pub(crate) use crate::wire::reply::{self, Answer, Text};
pub(crate) use config::Act;
pub(crate) use feed::{Feed, Read};
pub(crate) use model::error::{Code, Error, Result};
pub(crate) use model::{ExternalId, Millis, Time, schemas};
