await page.goto('SITE/form.html');
await page.locator('#readonly').fill('x', { timeout: 300 });
1
