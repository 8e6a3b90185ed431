await page.goto('SITE/form.html');
await page.fill('#name', 'Ada Lovelace');
await page.getByLabel('Email').fill('ada@example.com');
await page.check('#terms');
await page.getByRole('button', { name: 'Send form' }).click();
console.log(await page.title());
await page.locator('#query').textContent()
