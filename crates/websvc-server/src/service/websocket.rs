//! Requests for sockets that tell how a job goes: admitted as any request, and answered by a handshake.

use http::Request;
use http::header::ORIGIN;
use websvc_stage::Stage;
use websvc_store::JobKind;
use websvc_transport::ServerBody;

use super::{RequestContext, Service};
use crate::admission::{Admitted, RateLimitStatus};
use crate::authenticate::{self, Authentication};
use crate::authorize::authorize;
use crate::handler::JobOperation;
use crate::handler::watch::{self, Handshake, Secret, Socket, WatchedJob, WebSocketLimits};
use crate::mcp;
use crate::response::{ApiError, HttpResponse};
use crate::route::Operation;

impl Service {
    pub(crate) fn seats(&self) -> &WebSocketLimits {
        &self.parts.seats
    }

    pub(crate) fn store(&self) -> &websvc_store::Store {
        &self.parts.store
    }

    /// Answers a request for a socket. Sessions of the dashboard count for nothing here: their cookies come with what
    /// any page asks for, and a socket is no subject to the rules for that.
    ///
    /// # Errors
    /// 400 and 426 for what is no handshake.
    pub(super) async fn watch(
        &self,
        kind: JobKind,
        mut context: RequestContext<'_>,
        mut request: Request<ServerBody>,
    ) -> Result<HttpResponse, ApiError> {
        let handshake = Handshake::of(&request)?;
        handshake.show_key(request.headers_mut());
        let mut rate = None;
        let watched = self.admit_watching(kind, &mut context, &request, &mut rate).await;
        let key = match self.parts.authentication {
            Authentication::Required => {
                authenticate::key(request.headers()).map(|key| Secret(key.to_owned()))
            }
            Authentication::Open => None,
        };
        if watched.is_err() {
            context.trail.end_internal(&watched);
        }
        let path = request.uri().path().to_owned();
        let socket = Socket { service: self.clone(), kind, id: context.id, path, key };
        let mut reply = handshake.reply(socket.follow(watched));
        if let Some(rate) = rate {
            rate.write(reply.headers_mut());
        }
        Ok(reply)
    }

    async fn admit_watching(
        &self,
        kind: JobKind,
        context: &mut RequestContext<'_>,
        request: &Request<ServerBody>,
        rate: &mut Option<RateLimitStatus>,
    ) -> Result<WatchedJob, ApiError> {
        let parts = &*self.parts;
        if parts.authentication == Authentication::Open && request.headers().contains_key(ORIGIN) {
            // A page may open a socket to anywhere, whatever is said of other origins; a program names none.
            let own = self.origin_of(request);
            mcp::refuse_strangers(context, request.uri(), request.headers(), own.as_deref())?;
        }
        let caller = self.authenticate(context, request)?;
        if let Some(scope) = Operation::Job(kind, JobOperation::Status).scope() {
            authorize(caller.as_ref(), scope)?;
        }
        let admitting = parts.admission.admit(caller.as_ref());
        let admitted = parts.engine.stages().run(Stage::Admit, admitting).await;
        let Admitted { rate: consumed, permit } = admitted;
        *rate = consumed;
        // A socket is open for hours and does next to nothing: it has a place of another kind.
        let _permit = permit?;
        context.caller = caller;
        watch::admit(kind, context, request).await
    }
}
