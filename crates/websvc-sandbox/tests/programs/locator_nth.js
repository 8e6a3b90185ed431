await page.goto('SITE/list.html');
const products = page.locator('.product h2');
console.log(await products.count(), await products.first().textContent(), await products.last().textContent());
console.log(await products.nth(1).textContent(), await products.nth(-1).textContent());
await products.allTextContents()
