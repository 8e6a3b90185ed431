//! The indexes of single teams on the fake Elasticsearch: each is a fake of its own.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use url::Url;

use crate::elastic::{FakeElasticsearch, State, ok};
use crate::page::Page;
use crate::test_web::{ReceivedRequest, TestWebBuilder};

impl FakeElasticsearch {
    /// Returns the names of the indexes of teams that exist.
    #[must_use]
    pub fn team_indexes(&self) -> Vec<String> {
        self.existing_teams("*").into_iter().map(|team| team.index).collect()
    }

    /// Returns the existing indexes of teams whose names begin as a pattern does that ends with an asterisk.
    fn existing_teams(&self, pattern: &str) -> Vec<Self> {
        let beginning = pattern.trim_end_matches('*');
        let teams: Vec<Self> = self.teams.lock().values().cloned().collect();
        let exists = |team: &Self| team.index.starts_with(beginning) && team.state().types.is_some();
        teams.into_iter().filter(exists).collect()
    }

    fn team(&self, index: &str) -> Self {
        self.teams.lock().entry(index.to_owned()).or_insert_with(|| Self::new(index)).clone()
    }

    /// Serves the indexes of teams, and the paths of several indexes.
    pub(crate) fn serve_teams(&self, mut web: TestWebBuilder, base: &str) -> TestWebBuilder {
        for beginning in [format!("{base}/{}-team-", self.index), format!("{base}/{},", self.index)] {
            let server = self.clone();
            web = web.pages_below(&beginning, move |request| server.respond(request));
        }
        web
    }

    /// Responds to a request that concerns the index of a team; `None` if it concerns none.
    pub(crate) fn respond_for_teams(
        &self,
        state: &mut State,
        request: &ReceivedRequest,
        url: &Url,
    ) -> Option<Page> {
        let mut path = url.path_segments()?;
        let (index, operation) = (path.next()?, path.next().unwrap_or_default());
        let is_of_team = index.starts_with(&format!("{}-team-", self.index)) && !index.contains(['*', ',']);
        if is_of_team {
            return Some(self.team(index).respond(request));
        }
        match operation {
            "_alias" => {
                let teams = self.existing_teams(index).into_iter();
                let names = teams.map(|team| (team.index, json!({"aliases": {}})));
                Some(ok(&Value::Object(names.collect())))
            }
            "_bulk" => self.bulk_of_teams(state, request),
            "_delete_by_query" if index.contains(',') => {
                let mut page = state.delete_by_query(request, url);
                let pattern = index.rsplit(',').next().unwrap_or_default();
                for team in self.existing_teams(pattern) {
                    page = add_deleted(&page, &team.state().delete_by_query(request, url));
                }
                Some(page)
            }
            "_refresh" if index.contains(',') => {
                state.refreshes += 1;
                Some(ok(&json!({"_shards": {"total": 5, "successful": 5, "failed": 0}})))
            }
            _ => None,
        }
    }

    /// Stores the documents whose actions name the index of a team, and the others; `None` if there are only others.
    fn bulk_of_teams(&self, state: &mut State, request: &ReceivedRequest) -> Option<Page> {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let index_of = |action: &str| {
            let action: Value = serde_json::from_str(action).ok()?;
            action.pointer("/index/_index").and_then(Value::as_str).map(str::to_owned)
        };
        if !lines.chunks(2).any(|pair| index_of(pair[0]).is_some()) {
            return None;
        }
        let mut items = Vec::new();
        for pair in lines.chunks(2) {
            let mut single = request.clone();
            single.body = Bytes::from(pair.join("\n") + "\n");
            let page = match index_of(pair[0]) {
                Some(name) => self.team(&name).state().bulk(&single, &name),
                None => state.bulk(&single, &self.index),
            };
            items.extend(page.json()["items"].as_array().cloned().unwrap_or_default());
        }
        let has_errors = items.iter().any(|item| item.pointer("/index/error").is_some());
        Some(ok(&json!({"took": 1, "errors": has_errors, "items": items})))
    }
}

/// Adds the number of deleted documents of a response to that of another.
fn add_deleted(first: &Page, second: &Page) -> Page {
    let mut sum: Map<String, Value> = first.json().as_object().cloned().unwrap_or_default();
    for name in ["total", "deleted"] {
        let count = |page: &Page| page.json()[name].as_u64().unwrap_or_default();
        sum.insert(name.to_owned(), (count(first) + count(second)).into());
    }
    ok(&Value::Object(sum))
}
