await page.goto('SITE/clicks.html');
await page.locator('#far').scrollIntoViewIfNeeded();
await page.evaluate(() => scrollY > 1000)
