await page.goto('SITE/index.html');
const [response] = await Promise.all([page.waitForNavigation(), page.click('#frames-link')]);
[response.status(), await page.title()]
