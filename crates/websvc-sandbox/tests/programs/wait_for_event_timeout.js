await page.goto('SITE/index.html');
await page.waitForEvent('popup', { timeout: 100 });
1
