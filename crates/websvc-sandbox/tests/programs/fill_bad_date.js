await page.goto('SITE/form.html');
await page.locator('#day').fill('nonsense');
1
