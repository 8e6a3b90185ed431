await page.goto('SITE/form.html');
await page.locator('#email').clear();
await page.locator('#notes').fill('');
[await page.inputValue('#email'), await page.locator('#notes').inputValue()]
