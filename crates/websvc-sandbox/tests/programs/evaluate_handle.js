await page.goto('SITE/index.html');
const handle = await page.evaluateHandle(() => ({ a: 1, el: document.querySelector('h1') }));
console.log(await page.evaluate(h => h.a, handle));
const el = (await handle.getProperty('el')).asElement();
console.log(await el.getAttribute('id'), await el.evaluate(e => e.tagName), await (await handle.getProperty('a')).jsonValue());
await handle.dispose();
await page.evaluate(e => e.tagName, el)
