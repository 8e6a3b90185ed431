//! Group commit: writes that arrive while a transaction runs share the next one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use parking_lot::Mutex;
use websvc_store::StoreError;
use websvc_tasks::TaskError;

/// Writes that are queued, in a queue for each key. Writes with different keys run at the same time.
#[derive(Debug)]
pub(crate) struct GroupCommit<T, R> {
    queues: Mutex<HashMap<i64, Arc<Queue<T, R>>>>,
}

#[derive(Debug)]
struct Queue<T, R> {
    pending: Mutex<Vec<Pending<T, R>>>,
    /// Held by the thread that writes.
    writer: Mutex<()>,
}

#[derive(Debug)]
struct Pending<T, R> {
    item: T,
    reply: SyncSender<Result<R, StoreError>>,
}

impl<T, R> Default for GroupCommit<T, R> {
    fn default() -> Self {
        Self { queues: Mutex::default() }
    }
}

impl<T, R> GroupCommit<T, R> {
    /// Writes an item together with all others that are queued with this key. `write` returns a result for each. Blocks.
    ///
    /// # Errors
    /// Failures of the store.
    pub(crate) fn write(
        &self,
        key: i64,
        item: T,
        write: impl FnOnce(Vec<T>) -> Vec<Result<R, StoreError>>,
    ) -> Result<R, TaskError> {
        let (reply, result) = sync_channel(1);
        let queue = self.enqueue(key, Pending { item, reply });
        let writer = queue.writer.lock();
        let batch = std::mem::take(&mut *queue.pending.lock());
        if !batch.is_empty() {
            let (items, replies): (Vec<_>, Vec<_>) =
                batch.into_iter().map(|Pending { item, reply }| (item, reply)).unzip();
            for (reply, result) in replies.into_iter().zip(write(items)) {
                // The channel has capacity for its one reply, which the sender of the item reads below.
                let _ = reply.send(result);
            }
        }
        drop(writer);
        self.remove_unused(key, &queue);
        // This batch contained the item, or an earlier one of another thread did.
        match result.try_recv() {
            Ok(result) => Ok(result?),
            Err(_writer_panicked) => Err(TaskError::Stopping),
        }
    }

    fn enqueue(&self, key: i64, pending: Pending<T, R>) -> Arc<Queue<T, R>> {
        let mut queues = self.queues.lock();
        let queue = queues
            .entry(key)
            .or_insert_with(|| Arc::new(Queue { pending: Mutex::default(), writer: Mutex::default() }));
        queue.pending.lock().push(pending);
        Arc::clone(queue)
    }

    /// Removes a queue that no other thread uses.
    fn remove_unused(&self, key: i64, queue: &Arc<Queue<T, R>>) {
        let mut queues = self.queues.lock();
        // One reference is that of the map, the other one is `queue`. Others are made under the lock of the map.
        if Arc::strong_count(queue) == 2 {
            queues.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn items_of_one_key_share_writes_and_queues_are_removed() {
        let commits: GroupCommit<usize, usize> = GroupCommit::default();
        let (writes, start) = (Mutex::new(Vec::new()), Barrier::new(8));
        thread::scope(|scope| {
            for item in 0..8 {
                let (commits, writes, start) = (&commits, &writes, &start);
                scope.spawn(move || {
                    start.wait();
                    let key = (item % 2) as i64;
                    let result = commits.write(key, item, |items| {
                        writes.lock().extend(items.iter().map(|item| (key, *item)));
                        items.into_iter().map(|item| Ok(item * 10)).collect()
                    });
                    assert_eq!(result.unwrap(), item * 10);
                });
            }
        });
        let mut written = writes.into_inner();
        written.sort_by_key(|(_, item)| *item);
        let expected: Vec<(i64, usize)> = (0..8).map(|item| ((item % 2) as i64, item)).collect();
        assert_eq!(written, expected);
        assert!(commits.queues.lock().is_empty());
    }
}
