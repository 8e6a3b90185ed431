//! Statements in the form that PostgreSQL reads.

use std::sync::Arc;

use tokio_postgres::types::{Kind, ToSql, Type};
use tokio_postgres::{Client, Error, Row, Statement};

use super::value::Parameter;

/// A statement of a session.
#[derive(Debug, Clone)]
pub(super) enum SessionStatement {
    /// Prepared by the session of the server.
    Prepared(Statement),
    /// Parsed by the server at each execution, because the next transaction may have another session of the server.
    Unnamed(Arc<str>),
}

impl SessionStatement {
    /// Returns the number of rows that it changed.
    pub(super) async fn execute(&self, client: &Client, values: &[Parameter<'_>]) -> Result<u64, Error> {
        match self {
            Self::Prepared(statement) => client.execute(statement, &references(values)).await,
            Self::Unnamed(sql) => client.execute_typed(sql, &without_types(values)).await,
        }
    }

    /// Returns its rows.
    pub(super) async fn query(&self, client: &Client, values: &[Parameter<'_>]) -> Result<Vec<Row>, Error> {
        match self {
            Self::Prepared(statement) => client.query(statement, &references(values)).await,
            Self::Unnamed(sql) => client.query_typed(sql, &without_types(values)).await,
        }
    }
}

fn references<'a>(values: &'a [Parameter<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// Leaves the types of parameters to the server, which decides them from the statement.
fn without_types<'a>(values: &'a [Parameter<'a>]) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
    let unspecified = Type::new("unspecified".to_owned(), 0, Kind::Pseudo, String::new());
    references(values).into_iter().map(|value| (value, unspecified.clone())).collect()
}

/// Returns a statement with the placeholders of PostgreSQL: `$1` for `?1`. Texts in quotes are unchanged.
pub(super) fn with_dollar_placeholders(sql: &str) -> String {
    let mut is_quoted = false;
    sql.chars()
        .map(|character| {
            is_quoted ^= character == '\'';
            if character == '?' && !is_quoted { '$' } else { character }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::with_dollar_placeholders;

    #[test]
    fn placeholders_outside_of_quotes_are_replaced() {
        for (sql, expected) in [
            ("SELECT 1", "SELECT 1"),
            ("SELECT a FROM t WHERE b = ?1 AND c > ?12", "SELECT a FROM t WHERE b = $1 AND c > $12"),
            ("SELECT 'why?' || ?1 || 'it''s?'", "SELECT 'why?' || $1 || 'it''s?'"),
        ] {
            assert_eq!(with_dollar_placeholders(sql), expected);
        }
    }
}
