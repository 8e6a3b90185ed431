await page.goto('SITE/form.html');
await page.selectOption('#color', 'purple', { timeout: 300 });
1
