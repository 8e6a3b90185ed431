await page.goto('SITE/index.html');
await page.click('text=Products');
console.log(await page.title(), new URL(page.url()).pathname);
await page.locator('h1').textContent()
