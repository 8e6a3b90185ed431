await page.goto('SITE/index.html', { waitUntil: 'domcontentloaded' });
await page.goto('SITE/list.html', { waitUntil: 'networkidle' });
await page.goto('SITE/form.html', { waitUntil: 'commit' });
await page.waitForLoadState();
await page.evaluate(() => document.readyState)
