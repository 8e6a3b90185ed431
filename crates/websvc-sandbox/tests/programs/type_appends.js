await page.goto('SITE/form.html');
await page.type('#name', 'Hello');
await page.type('#name', ' World é漢');
await page.inputValue('#name')
