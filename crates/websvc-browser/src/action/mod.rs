//! The actions on a page, one file each.

mod click;
mod error;
mod keyboard;
mod keys;
mod print;
mod script;
mod scroll;
mod wait;

use crate::error::BrowserError;
use crate::page::Page;
use crate::rendered_page::RenderedPage;
use crate::request::Step;
use crate::screenshot;

use error::ActionError;

/// Runs the actions in order, until one fails.
pub(crate) async fn run_actions(
    page: &Page<'_>,
    steps: &[Step],
    rendered: &mut RenderedPage,
) -> Result<(), BrowserError> {
    for (index, step) in steps.iter().enumerate() {
        run(page, step, rendered).await.map_err(|error| {
            let reason = match error {
                ActionError::Failed(reason) => reason,
                // A refused command is an error of the action that needed it.
                ActionError::Browser(BrowserError::Protocol { detail }) => detail,
                ActionError::Browser(error) => return error,
            };
            BrowserError::Step { index, action: step.name(), reason }
        })?;
    }
    Ok(())
}

async fn run(page: &Page<'_>, step: &Step, rendered: &mut RenderedPage) -> Result<(), ActionError> {
    match step {
        Step::Wait(duration) => wait::duration(page, *duration).await?,
        Step::WaitFor(selector) => wait::element(page, selector).await?,
        Step::Screenshot(screenshot) => rendered.screenshots.push(screenshot::take(page, screenshot).await?),
        Step::Click { selector, matches } => click::click(page, selector, *matches).await?,
        Step::Write(text) => keyboard::write(page, text).await?,
        Step::Press(key) => keyboard::press(page, key).await?,
        Step::Scroll { direction, selector } => scroll::scroll(page, *direction, selector.as_deref()).await?,
        Step::Scrape => rendered.scrapes.push(page.scrape().await?),
        Step::Script(script) => rendered.returns.push(script::run(page, script).await?),
        Step::Print(print) => rendered.pdfs.push(print::print(page, print).await?),
    }
    Ok(())
}
