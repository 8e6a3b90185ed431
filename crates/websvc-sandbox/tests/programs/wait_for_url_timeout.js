await page.goto('SITE/index.html');
await page.waitForURL('**/never.html', { timeout: 200 });
1
