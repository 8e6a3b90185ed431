await page.goto('SITE/index.html');
await page.locator('#intro').fill('abc', { timeout: 1000 });
1
