//! Pipelining: the statements of a transaction whose results are not needed are sent together with the next one, so that
//! they cost no round trip.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio_postgres::{Client, Error, Row};

use super::statement::SessionStatement;
use super::value::Parameter;
use super::{Params, Result, ValueRef};

/// The response of a statement.
pub(super) type Response<'a, T> = Pin<Box<dyn Future<Output = std::result::Result<T, Error>> + 'a>>;

/// Statements of a transaction that were not sent yet.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    /// The statements that begin the transaction.
    pub(super) begin: Option<String>,
    /// Sent with the next statement.
    pub(super) queued: Vec<StoredStatement>,
    /// Sent with the commit.
    pub(super) at_commit: Vec<StoredStatement>,
    /// True if the commit is sent with the next statement.
    pub(super) commits: bool,
}

impl Unsent {
    /// Removes the statements that are to be sent before the next one.
    pub(super) fn take(&mut self) -> Self {
        let commits = std::mem::take(&mut self.commits);
        if commits {
            self.queued.append(&mut self.at_commit);
        }
        Self {
            begin: self.begin.take(),
            queued: std::mem::take(&mut self.queued),
            at_commit: Vec::new(),
            commits,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.begin.is_none() && self.queued.is_empty() && !self.commits
    }

    /// Returns the executions of the statements, in their order.
    pub(super) fn executions<'a>(&'a self, client: &'a Client) -> Vec<Response<'a, ()>> {
        let begin = self.begin.iter().map(|sql| Box::pin(client.batch_execute(sql)) as Response<'a, ()>);
        begin.chain(self.queued.iter().map(|stored| stored.execution(client))).collect()
    }
}

/// A statement with its parameters.
#[derive(Debug)]
pub(super) struct StoredStatement {
    statement: SessionStatement,
    values: Vec<StoredValue>,
}

impl StoredStatement {
    pub(super) fn new(statement: SessionStatement, params: Params<'_>) -> Result<Self> {
        let values =
            params.iter().map(|value| value.to_sql().map(StoredValue::from)).collect::<Result<_>>()?;
        Ok(Self { statement, values })
    }

    fn execution<'a>(&'a self, client: &'a Client) -> Response<'a, ()> {
        Box::pin(async move {
            let values: Vec<Parameter<'_>> =
                self.values.iter().map(|value| Parameter(value.as_ref())).collect();
            self.statement.execute(client, &values).await.map(drop)
        })
    }
}

/// A value that is stored until its statement is sent.
#[derive(Debug)]
enum StoredValue {
    Null,
    Integer(i64),
    Real(f64),
    Text(Box<str>),
    Blob(Box<[u8]>),
}

impl From<ValueRef<'_>> for StoredValue {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(text.into()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.into()),
        }
    }
}

impl StoredValue {
    fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }
    }
}

/// Executes a query.
pub(super) fn query<'a>(
    client: &'a Client,
    statement: &'a SessionStatement,
    values: &'a [Parameter<'a>],
) -> Response<'a, Vec<Row>> {
    Box::pin(statement.query(client, values))
}

/// Awaits the responses of statements, all of which are sent at once: a client sends a request when its future is polled
/// first. Returns the first failure, if there is one.
pub(super) async fn all<T>(mut responses: Vec<Response<'_, T>>) -> std::result::Result<Vec<T>, Error> {
    let mut results: Vec<_> = responses.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (response, result) in responses.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(ready) = response.as_mut().poll(context)
            {
                *result = Some(ready);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}

/// Sends two statements, or sequences of them, and awaits their responses. Returns the first failure, if there is one.
pub(super) async fn both<A, B>(
    first: impl Future<Output = std::result::Result<A, Error>>,
    second: impl Future<Output = std::result::Result<B, Error>>,
) -> std::result::Result<(A, B), Error> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut first_result, mut second_result) = (None, None);
    poll_fn(|context| {
        if first_result.is_none()
            && let Poll::Ready(ready) = first.as_mut().poll(context)
        {
            first_result = Some(ready);
        }
        if second_result.is_none()
            && let Poll::Ready(ready) = second.as_mut().poll(context)
        {
            second_result = Some(ready);
        }
        if first_result.is_some() && second_result.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    let first = first_result.expect("it is ready when the poll ends")?;
    Ok((first, second_result.expect("it is ready when the poll ends")?))
}
