await page.goto('SITE/clicks.html');
await page.click('#nothing', { timeout: 200 });
1
