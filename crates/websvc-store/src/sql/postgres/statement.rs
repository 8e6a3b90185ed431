//! Statements in the form that PostgreSQL reads.

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
