await page.goto('SITE/index.html');
await Promise.all([page.waitForNavigation(), page.evaluate(() => { location.href = 'list.html'; })]);
await page.title()
