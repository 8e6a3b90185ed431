await page.goto('SITE/shadow.html');
console.log(await page.locator('my-card h3').textContent(), await page.getByText('In the shadow').count());
await page.getByRole('button', { name: 'Shadow button' }).click();
await page.getByLabel('Code').fill('abc');
console.log(await page.locator('.title').textContent(), await page.getByLabel('Code').inputValue());
await page.locator('my-card >> h3').count()
