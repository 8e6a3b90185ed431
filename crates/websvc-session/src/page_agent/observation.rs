//! Reads the address, the title and the outline of a page.

use std::time::Duration;

use crate::page_agent::commands::{CommandOutput, PageCommands};

/// The maximum time of one command, or of one reading of the page.
pub(crate) const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// The number of attempts to read a page. It may navigate during an attempt.
const ATTEMPTS: usize = 3;

/// Prints the address, the title and the outline.
const OBSERVE: &str = "get url\nget title\nsnapshot -c";

/// Gives a page time to react to a command: to begin a navigation, and to load.
const SETTLE: &str = "wait 200\nwait --load load --timeout 5000";

/// Waits longer, for a page that has not reacted yet.
const SETTLE_LONGER: &str = "wait 1000\nwait --load load --timeout 5000";

/// A page as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) url: String,
    pub(crate) title: String,
    /// The snapshot of `agent-browser`.
    pub(crate) snapshot: String,
}

/// The result of reading a page: the page, or the reason why it cannot be read.
pub(crate) type Reading = Result<Observation, String>;

impl Observation {
    fn parse(output: &str) -> Self {
        let mut lines = output.trim_end().splitn(3, '\n');
        let mut next = || lines.next().unwrap_or_default().to_owned();
        Self { url: next(), title: next(), snapshot: next() }
    }
}

/// Reads a page.
///
/// # Errors
/// The failure of the page itself.
pub(crate) async fn observe<P: PageCommands + ?Sized>(page: &P) -> Result<Reading, P::Error> {
    let mut reason = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            settle(page, SETTLE).await?;
        }
        let output = page.run(OBSERVE.to_owned(), COMMAND_TIMEOUT).await?;
        match output.failure() {
            None => return Ok(Ok(Observation::parse(&output.stdout))),
            Some(failure) => reason = failure,
        }
    }
    Ok(Err(reason))
}

/// Reads a page after a command that should have changed it, as soon as it differs from `before`, or at the latest after a
/// little more than a second.
///
/// # Errors
/// The failure of the page itself.
pub(crate) async fn observe_change<P: PageCommands + ?Sized>(
    page: &P,
    before: &Observation,
) -> Result<Reading, P::Error> {
    let reading = observe_after(page).await?;
    if reading.as_ref() != Ok(before) {
        return Ok(reading);
    }
    settle(page, SETTLE_LONGER).await?;
    observe(page).await
}

/// Reads a page after a command.
///
/// # Errors
/// The failure of the page itself.
pub(crate) async fn observe_after<P: PageCommands + ?Sized>(page: &P) -> Result<Reading, P::Error> {
    settle(page, SETTLE).await?;
    observe(page).await
}

async fn settle<P: PageCommands + ?Sized>(page: &P, commands: &str) -> Result<(), P::Error> {
    // A page that does not finish loading is read as it is.
    let CommandOutput { .. } = page.run(commands.to_owned(), COMMAND_TIMEOUT).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_address_title_and_outline() {
        let read = Observation::parse("http://a.test/\nTea\n- heading \"Tea\"\n- text: x\n");
        assert_eq!((read.url.as_str(), read.title.as_str()), ("http://a.test/", "Tea"));
        assert_eq!(read.snapshot, "- heading \"Tea\"\n- text: x");
        let read = Observation::parse("about:blank\n\n(empty page)\n");
        assert_eq!((read.title.as_str(), read.snapshot.as_str()), ("", "(empty page)"));
    }
}
