//! The embedded index over HTTP, for the command line beside a running server.

use http::{Request, StatusCode};
use serde_json::json;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;

use super::body;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;
