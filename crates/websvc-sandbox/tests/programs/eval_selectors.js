await page.goto('SITE/list.html');
console.log(await page.$eval('h1', e => e.textContent), await page.$$eval('h2', list => list.map(e => e.textContent)));
console.log(await page.$eval('.product', (e, key) => e.dataset[key], 'id'), await page.$('#none'));
console.log((await page.$$('.price')).length);
await page.$eval('#none', e => e.id);
1
