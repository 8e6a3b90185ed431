//! Requests for WebSockets that report the progress of a job: admitted like any request, and answered with a
//! handshake.

use http::Request;
use http::header::ORIGIN;
use websvc_stage::Stage;
use websvc_store::JobKind;
use websvc_transport::ServerBody;

use super::{Handled, RequestContext, Service};
use crate::admission::{Admitted, RateLimitStatus};
use crate::audit_trail::AuditOutcome;
use crate::authenticate::{self, Authentication};
use crate::handler::watch::{self, Handshake, Secret, Socket, WatchedJob};
use crate::mcp;
use crate::response::ApiError;

/// The result of admitting a WebSocket.
struct WatchAdmission {
    rate: Option<RateLimitStatus>,
    job: Result<WatchedJob, ApiError>,
}

impl Service {
    /// Handles a request for a WebSocket.
    ///
    /// Sessions of the dashboard do not count here: browsers send their cookie with requests of any page, and CORS does
    /// not apply to WebSockets.
    ///
    /// A request that is not a valid handshake gets 400 or 426, every other 101.
    pub(super) async fn handle_websocket(
        &self,
        kind: JobKind,
        mut context: RequestContext<'_>,
        mut request: Request<ServerBody>,
    ) -> Handled {
        let handshake = match Handshake::from_request(&request) {
            Ok(handshake) => handshake,
            Err(error) => return error.into(),
        };
        handshake.attach_key(request.headers_mut());
        let WatchAdmission { rate, job } = self.admit_websocket(kind, &mut context, &request).await;
        let key = match self.state.authentication {
            Authentication::Required => {
                authenticate::key(request.headers()).map(|key| Secret(key.into_owned()))
            }
            Authentication::Open => None,
        };
        let rejection = job.as_ref().err().map(AuditOutcome::of_error);
        let path = request.uri().path().to_owned();
        let socket = Socket { service: self.clone(), kind, id: context.id, path, key };
        let mut response = handshake.into_response(socket.into_body(job));
        if let Some(rate) = rate {
            rate.write(response.headers_mut());
        }
        let outcome = rejection.unwrap_or_else(|| AuditOutcome::of_status(response.status()));
        Handled { response, outcome }
    }

    /// Authenticates, authorizes and admits a request for a WebSocket, and finds its job.
    async fn admit_websocket(
        &self,
        kind: JobKind,
        context: &mut RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> WatchAdmission {
        let caller = match self.check_origin(context, request) {
            Ok(()) => self.authenticate_for(context, request).await,
            Err(error) => Err(error),
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(error) => return WatchAdmission { rate: None, job: Err(error) },
        };
        let admission = self.state.admission.admit(caller.as_ref());
        let Admitted { rate, permit } = self.state.engine.stages().run(Stage::Admit, admission).await;
        let job = match permit {
            // The permit is released here: a socket is open for hours and is almost idle. It has its own limit.
            Ok(_permit) => {
                context.caller = caller;
                watch::admit(kind, context, request).await
            }
            Err(error) => Err(error),
        };
        WatchAdmission { rate, job }
    }

    /// Rejects a page of another origin if no key is required: a page may open a WebSocket to any host, and CORS does
    /// not prevent it. Clients other than browsers send no origin.
    fn check_origin(
        &self,
        context: &RequestContext<'_>,
        request: &Request<ServerBody>,
    ) -> Result<(), ApiError> {
        if self.state.authentication == Authentication::Open && request.headers().contains_key(ORIGIN) {
            let base_url = self.state.base_url(request);
            mcp::reject_cross_origin(context, request.uri(), request.headers(), base_url.as_deref())?;
        }
        Ok(())
    }
}
