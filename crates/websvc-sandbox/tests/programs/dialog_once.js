await page.goto('SITE/dialogs.html');
page.once('dialog', dialog => dialog.dismiss());
const [dialog] = await Promise.all([page.waitForEvent('dialog'), page.click('#confirm')]);
[dialog.message(), await page.textContent('#out')]
