//! Bodies of requests about uploaded files.

use websvc_types::limits::UPLOAD_REF_MAX_CHARS;
use websvc_types::{ParseOptions, ParseUploadRequest, UploadUrlRequest};

use super::{FILE, UPLOAD_URL, UPLOADED_FILE, read};
use crate::bounds;
use crate::checked::Checked;
use crate::error::Rejection;
use crate::page::{self, FilePlan};
use crate::path::Path;
use crate::policy::Policy;
use crate::report::Report;

/// Reads and checks the options of an uploaded file. Without formats, the format is markdown.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the options break, or names the permission that the team
/// lacks.
pub fn read_parse_options(body: &[u8], policy: &Policy) -> Result<Checked<FilePlan>, Rejection> {
    let mut report = Report::default();
    let request = read::<ParseOptions>(&mut report, body, &FILE)?;
    let plan = page::check_file(&mut report, request, policy);
    report.finish(plan)
}

/// Reads and checks the body of a request to convert a file that was sent to an upload URL. Also returns the reference of the
/// file, whose signature is not checked.
///
/// # Errors
/// The same as [`read_parse_options`].
pub fn read_parse_upload(body: &[u8], policy: &Policy) -> Result<Checked<(String, FilePlan)>, Rejection> {
    let mut report = Report::default();
    let request = read::<ParseUploadRequest>(&mut report, body, &UPLOADED_FILE)?;
    let ParseUploadRequest { upload_ref, zero_data_retention, options } = request;
    let path = Path::Root.key("uploadRef");
    if !report.has(&path) {
        bounds::chars(&mut report, &path, &upload_ref, 1, UPLOAD_REF_MAX_CHARS);
    }
    let plan = page::check_file(&mut report, ParseOptions { zero_data_retention, options }, policy);
    report.finish((upload_ref, plan))
}

/// Reads and checks the body of a request for an upload URL.
///
/// # Errors
/// [`Rejection`] has the syntax error, lists every rule that the request breaks, or says that the team may not use upload
/// URLs.
pub fn read_upload_url(body: &[u8], policy: &Policy) -> Result<Checked<UploadUrlRequest>, Rejection> {
    let mut report = Report::default();
    let request = read::<UploadUrlRequest>(&mut report, body, &UPLOAD_URL)?;
    page::check_upload_url(&mut report, &request, policy);
    report.finish(request)
}
