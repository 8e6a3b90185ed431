await page.goto('SITE/list.html');
await page.click('text=Buy');
await page.textContent('#total')
