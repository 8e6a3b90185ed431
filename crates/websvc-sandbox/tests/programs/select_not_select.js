await page.goto('SITE/form.html');
await page.locator('#name').selectOption('x');
1
