await page.goto('SITE/clicks.html');
await page.click('#add');
await page.locator('#added').waitFor();
await page.locator('#added').waitFor({ state: 'hidden' });
await page.locator('#added').isVisible()
