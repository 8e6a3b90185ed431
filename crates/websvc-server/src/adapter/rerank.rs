//! `POST /v1/rerank` in the shape of Jina's: given texts in the order in which they answer a query.

use http::{Request, StatusCode};
use websvc_transport::ServerBody;
use websvc_types::rerank::{
    RerankDocument, RerankRequest, RerankResponse, RerankResult, RerankText, RerankUsage,
};
use websvc_validate::{Checked, read_rerank};

use crate::charge::blocking;
use crate::handler;
use crate::reply::{Failure, Reply, json};
use crate::service::Context;

/// The one way of ordering.
const MODEL: &str = "websvc-bm25";

/// Orders texts.
pub(super) async fn rerank(context: Context<'_>, request: Request<ServerBody>) -> Result<Reply, Failure> {
    let body = handler::read_body(request).await?;
    let checked = context.admission.decode(body, read_rerank).await?;
    let response = blocking(move || order(checked)).await?;
    Ok(json(StatusCode::OK, &response))
}

fn order(Checked { plan, warnings }: Checked<RerankRequest>) -> RerankResponse {
    let RerankRequest { query, mut documents, top_n, model, return_documents } = plan;
    let ranking = websvc_engine::rerank(&query, documents.iter().map(RerankDocument::text));
    let most = top_n.map_or(usize::MAX, |most| most as usize);
    let results = ranking.ranked.into_iter().take(most).map(|ranked| RerankResult {
        index: ranked.index,
        relevance_score: ranked.score,
        document: return_documents
            .unwrap_or(true)
            .then(|| RerankText { text: std::mem::take(&mut documents[ranked.index]).into_text() }),
    });
    RerankResponse {
        model: model.unwrap_or_else(|| MODEL.to_owned()),
        usage: RerankUsage { total_tokens: ranking.words },
        results: results.collect(),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    }
}
