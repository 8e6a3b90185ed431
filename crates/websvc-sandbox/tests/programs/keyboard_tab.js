await page.goto('SITE/form.html');
await page.focus('#name');
await page.keyboard.press('Tab');
await page.evaluate(() => document.activeElement.id)
