await page.goto('SITE/list.html');
const product = await page.$('.product');
console.log(await (await product.$('h2')).textContent(), await product.$eval('.price', e => e.textContent));
console.log(await product.$$eval('*', list => list.length), (await product.$$('button')).length, await product.isVisible());
await (await product.$('button')).click();
console.log(await page.textContent('#total'));
(await product.boundingBox()).width > 0
