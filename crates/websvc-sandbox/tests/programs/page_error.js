await page.goto('SITE/dialogs.html');
const [error] = await Promise.all([page.waitForEvent('pageerror'), page.click('#throw')]);
[error.name, error.message]
