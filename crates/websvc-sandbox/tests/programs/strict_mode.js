await page.goto('SITE/clicks.html');
await page.locator('.twin').click();
1
