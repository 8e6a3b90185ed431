//! Rules of invitations.

use websvc_types::key::RedeemRequest;
use websvc_types::limits::{INVITATION_MAX_CHARS, INVITATION_MIN_CHARS};

use crate::bounds;
use crate::path::Path;
use crate::report::Report;

/// Checks a request that redeems an invitation, and returns the invitation without the rest of its link.
pub(crate) fn check_redeem(report: &mut Report, request: RedeemRequest) -> String {
    let RedeemRequest { invitation } = request;
    let path = Path::Root.key("invitation");
    if !report.has(&path) {
        bounds::chars(report, &path, &invitation, INVITATION_MIN_CHARS, INVITATION_MAX_CHARS);
    }
    let link = invitation.trim();
    link.rsplit_once('/').map_or(link, |(_, invitation)| invitation).to_owned()
}
