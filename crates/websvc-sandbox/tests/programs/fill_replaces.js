await page.goto('SITE/form.html');
await page.locator('#email').fill('new@example.com');
await page.locator('#notes').fill('line 1\nline 2');
await page.locator('#editor').fill('edited');
await page.locator('#day').fill('2024-02-29');
await page.locator('#age').fill('42');
await page.locator('#level').fill('7');
console.log(await page.locator('#editor').textContent());
await page.evaluate(() => ['email', 'notes', 'day', 'age', 'level'].map(id => document.getElementById(id).value))
