await page.goto('SITE/form.html');
await page.locator('#name').isChecked();
1
