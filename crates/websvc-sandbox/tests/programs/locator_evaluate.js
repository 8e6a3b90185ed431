await page.goto('SITE/list.html');
console.log(await page.locator('.product').evaluateAll((list, extra) => list.map(e => e.dataset.id + extra), '!'));
console.log(await page.locator('h1').evaluate(e => e.tagName), await page.locator('h1').evaluate((e, x) => e.textContent + x, '?'));
await page.locator('.product').evaluate(e => e.id);
1
