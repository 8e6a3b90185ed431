await page.goto('SITE/form.html');
await page.locator('#name').fill('abc');
await page.locator('#log').textContent()
