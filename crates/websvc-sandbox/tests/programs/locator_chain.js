await page.goto('SITE/list.html');
const product = page.locator('.product').filter({ hasText: 'Chair' });
console.log(await product.locator('.price').innerText());
await product.getByRole('button').click();
await page.locator('#total').textContent()
