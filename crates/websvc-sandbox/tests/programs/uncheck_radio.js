await page.goto('SITE/form.html');
await page.locator('#large').check();
await page.locator('#large').uncheck();
1
