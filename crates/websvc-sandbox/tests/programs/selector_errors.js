await page.goto('SITE/list.html');
await page.locator('foo=bar').count();
1
