//! `POST /v1/rerank` in the shape of Jina's: given texts in the order in which they answer a query.

use std::time::{Duration, Instant};

use http::{Request, StatusCode};
use websvc_engine::{ComputeError, Ranked, Ranking, run_blocking};
use websvc_model::{Model, ModelError};
use websvc_stage::Stage;
use websvc_transport::ServerBody;
use websvc_types::ErrorCode;
use websvc_types::limits::QUERY_TERMS_MAX;
use websvc_types::rerank::{
    RerankDocument, RerankRequest, RerankResponse, RerankResult, RerankText, RerankUsage,
};
use websvc_validate::{Checked, read_rerank};

use crate::handler;
use crate::response::{ApiError, HttpResponse, json};
use crate::service::RequestContext;

/// The name of our own way of ordering.
const OWN: &str = "websvc-bm25";

/// The name of the model that is configured; what the operator calls it is nobody's concern.
const CONFIGURED: &str = "websvc-model";

/// The time for an order, by a model, which may have less, or by words.
const TIME: Duration = Duration::from_secs(60);

/// Orders texts: by the model that is configured for it, else and when it fails by their words.
pub(super) async fn rerank(
    context: RequestContext<'_>,
    request: Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let body = handler::read_body(request).await?;
    let Checked { plan, mut warnings } = context.admission.decode_body(body, read_rerank).await?;
    let model = context.engine.model().filter(|model| model.can_rerank());
    let by_model = match model {
        Some(model) => match context.engine.stages().run(Stage::Model, by_model(&**model, &plan)).await {
            Ok(ranking) => Some(ranking),
            Err(error) => {
                tracing::warn!(%error, "the language model ordered nothing");
                warnings
                    .push(format!("the model gave no order: {error}; the texts are ordered by their words"));
                None
            }
        },
        None => None,
    };
    let response = match by_model {
        Some(ranking) => answer(plan, ranking, CONFIGURED, &warnings),
        None => {
            let deadline = Instant::now() + TIME;
            run_blocking(deadline, move || by_words(plan, warnings, deadline))
                .await
                .flatten()
                .map_err(failure)?
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
    Ok(answer(plan, ranking, OWN, &warnings))
}

fn failure(error: ComputeError) -> ApiError {
    match error {
        ComputeError::Late => ApiError::new(
            ErrorCode::RequestTimeout,
            format!("Request timed out: the texts were not ordered within {} ms", TIME.as_millis()),
        ),
        ComputeError::Failed => ApiError::internal(&error, "the texts could not be ordered"),
    }
}

async fn by_model(model: &dyn Model, plan: &RerankRequest) -> Result<Ranking, ModelError> {
    let texts: Vec<&str> = plan.documents.iter().map(RerankDocument::text).collect();
    let most = plan.top_n.map_or(texts.len(), |most| most as usize);
    let order = model.rerank(&plan.query, &texts, most, Instant::now() + TIME).await?;
    let ranked = order.texts.into_iter().map(|text| Ranked { index: text.index, score: text.score });
    let words = order.total_tokens.unwrap_or_default();
    Ok(Ranking { ranked: ranked.collect(), words, is_query_cut: false })
}

fn answer(plan: RerankRequest, ranking: Ranking, name: &str, warnings: &[String]) -> RerankResponse {
    let RerankRequest { query: _, mut documents, top_n, model, return_documents } = plan;
    let most = top_n.map_or(usize::MAX, |most| most as usize);
    let results = ranking.ranked.into_iter().take(most).map(|ranked| RerankResult {
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
