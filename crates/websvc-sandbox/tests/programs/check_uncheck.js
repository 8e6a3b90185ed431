await page.goto('SITE/form.html');
await page.locator('#terms').check();
await page.locator('#terms').check();
await page.getByLabel('Newsletter').uncheck();
await page.getByText('Large').click();
await page.getByLabel('Small').setChecked(true);
[await page.isChecked('#terms'), await page.locator('#news').isChecked(), await page.isChecked('#large')]
