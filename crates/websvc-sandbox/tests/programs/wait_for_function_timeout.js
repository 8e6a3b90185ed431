await page.goto('SITE/clicks.html');
await page.waitForFunction(() => false, null, { timeout: 150 });
1
