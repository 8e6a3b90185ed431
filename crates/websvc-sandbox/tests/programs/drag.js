await page.goto('SITE/clicks.html');
await page.locator('#drag').dragTo(page.locator('#drop'));
await page.textContent('#events')
