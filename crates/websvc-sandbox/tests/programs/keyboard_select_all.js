await page.goto('SITE/form.html');
await page.click('#email');
await page.keyboard.press('Control+A');
await page.keyboard.type('x');
await page.inputValue('#email')
