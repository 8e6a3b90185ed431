await page.goto('SITE/form.html');
await page.locator('#locked').fill('x', { timeout: 300 });
1
