await page.goto('SITE/form.html');
await page.keyboard.press('Hyper');
1
