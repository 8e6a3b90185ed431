await page.goto('SITE/index.html');
console.log(await page.evaluate('1 + 2'), await page.evaluate('() => window.count'), await page.evaluate('window.loadedBy'));
console.log(await page.evaluate(() => undefined), await page.evaluate(() => null), await page.evaluate(() => NaN), await page.evaluate(() => -0));
console.log(await page.evaluate(({ a, list }) => [a + 1, ...list], { a: 1, list: [2, 3] }));
console.log(await page.evaluate(d => d.getTime(), new Date(5)), await page.evaluate(() => new Date(7)));
console.log(await page.evaluate(() => ({ r: /x/g, big: 12n, nested: { list: [1, 'two', { three: 3 }] } })));
console.log(await page.evaluate(async () => { await new Promise(r => setTimeout(r, 10)); return 'later'; }));
console.log(await page.evaluate(() => document.body), await page.evaluate(() => { const o = {}; o.self = o; return o; }));
await page.evaluate(x => x === undefined)
