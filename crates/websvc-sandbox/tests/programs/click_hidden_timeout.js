await page.goto('SITE/index.html');
await page.locator('#hidden').click({ timeout: 200 });
1
