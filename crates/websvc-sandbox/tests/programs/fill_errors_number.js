await page.goto('SITE/form.html');
await page.locator('#age').fill('abc');
1
