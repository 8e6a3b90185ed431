await page.goto('SITE/list.html');
const products = page.locator('.product');
console.log(await products.filter({ hasText: /lamp/i }).count());
console.log(await products.filter({ has: page.locator('em') }).count(), await products.filter({ hasNot: page.locator('em') }).count());
console.log(await products.filter({ hasNotText: 'lamp' }).locator('h2').innerText());
await page.locator('.product', { hasText: 'lamp', has: page.locator('button:disabled') }).getAttribute('data-id')
