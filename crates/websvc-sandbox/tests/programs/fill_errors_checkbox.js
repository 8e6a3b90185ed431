await page.goto('SITE/form.html');
await page.locator('#terms').fill('x');
1
