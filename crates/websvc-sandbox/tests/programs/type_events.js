await page.goto('SITE/form.html');
await page.locator('#name').pressSequentially('aB!');
console.log(await page.locator('#name').inputValue());
await page.locator('#log').textContent()
