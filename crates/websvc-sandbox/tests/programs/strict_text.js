await page.goto('SITE/list.html');
await page.getByRole('button', { name: 'Buy' }).textContent();
1
