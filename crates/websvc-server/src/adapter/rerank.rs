//! `POST /v1/rerank`, in the format of Jina: ranks texts by their relevance to a query.

use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use websvc_engine::{ComputeError, Ranked, Ranking, run_blocking};
use websvc_model::{Model, ModelError};
use websvc_stage::Stage;
use websvc_store::KeyScope;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::limits::QUERY_TERMS_MAX;
use websvc_types::rerank::{
    RerankDocument, RerankRequest, RerankResponse, RerankResult, RerankText, RerankUsage,
};
use websvc_validate::{Checked, read_request};

use crate::handler;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::post(
    "/v1/rerank",
    OperationGroup::Rerank,
    handler!(|context, request| rerank(context, request).await),
)
.name("rerank")
.scope(KeyScope::Search)
.body(RequestBody::LONG)];

/// The name of the ranking by words in responses.
const WORD_RANKING: &str = "websvc-bm25";

/// The name of the configured model in responses. Its real name is not revealed to clients.
const MODEL_RANKING: &str = "websvc-model";

/// The timeout for a ranking. The timeout of the model may be shorter.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Ranks texts with the configured model, or by their words if there is none or it fails.
async fn rerank(context: RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = handler::read_body(request)?;
    let Checked { plan, mut warnings } =
        context.state.admission.decode_body(body, |body| read_request::<RerankRequest>(body, ())).await?;
    let model = context.state.engine.model().filter(|model| model.can_rerank());
    let by_model = match model {
        Some(model) => match context.state.engine.stages().run(Stage::Model, by_model(&**model, &plan)).await
        {
            Ok(ranking) => Some(ranking),
            Err(error) => {
                tracing::warn!(%error, "reranking with the language model failed");
                warnings.push(format!("the model failed: {error}; the texts are ranked by their words"));
                None
            }
        },
        None => None,
    };
    let response = match by_model {
        Some(ranking) => rerank_response(plan, ranking, MODEL_RANKING, &warnings),
        None => {
            let deadline = Instant::now() + TIMEOUT;
            run_blocking(deadline, move || by_words(plan, warnings, deadline))
                .await
                .flatten()
                .map_err(api_error)?
        }
    };
    Ok(json(StatusCode::OK, &response))
}

fn by_words(
    plan: RerankRequest,
    mut warnings: Vec<String>,
    deadline: Instant,
) -> Result<RerankResponse, ComputeError> {
    let texts: Vec<&str> = plan.documents.iter().map(RerankDocument::text).collect();
    let ranking = websvc_engine::rerank(&plan.query, &texts, deadline)?;
    if ranking.is_query_cut {
        warnings.push(format!("only the first {QUERY_TERMS_MAX} different words of query count"));
    }
    Ok(rerank_response(plan, ranking, WORD_RANKING, &warnings))
}

fn api_error(error: ComputeError) -> ApiError {
    match error {
        ComputeError::Late => ApiError::new(
            ErrorCode::RequestTimeout,
            format!("Request timed out: the texts were not ranked within {} ms", TIMEOUT.as_millis()),
        ),
        ComputeError::Failed => ApiError::internal(&error, "the texts could not be ranked"),
    }
}

async fn by_model(model: &dyn Model, plan: &RerankRequest) -> Result<Ranking, ModelError> {
    let texts: Vec<&str> = plan.documents.iter().map(RerankDocument::text).collect();
    let max_results = plan.top_n.map_or(texts.len(), |top_n| top_n as usize);
    let response = model.rerank(&plan.query, &texts, max_results, Instant::now() + TIMEOUT).await?;
    let ranked = response.texts.into_iter().map(|text| Ranked { index: text.index, score: text.score });
    let words = response.total_tokens.unwrap_or_default();
    Ok(Ranking { ranked: ranked.collect(), words, is_query_cut: false })
}

fn rerank_response(plan: RerankRequest, ranking: Ranking, name: &str, warnings: &[String]) -> RerankResponse {
    let RerankRequest { query: _, mut documents, top_n, model, return_documents } = plan;
    let max_results = top_n.map_or(usize::MAX, |top_n| top_n as usize);
    let results = ranking.ranked.into_iter().take(max_results).map(|ranked| RerankResult {
        index: ranked.index,
        relevance_score: ranked.score,
        document: return_documents
            .unwrap_or(true)
            .then(|| RerankText { text: std::mem::take(&mut documents[ranked.index]).into_text() }),
    });
    RerankResponse {
        model: model.unwrap_or_else(|| name.to_owned()),
        usage: RerankUsage { total_tokens: ranking.words },
        results: results.collect(),
        warning: (!warnings.is_empty()).then(|| warnings.join("; ")),
    }
}
