await page.goto('SITE/list.html');
const rows = await page.locator('table tr').all();
const data = [];
for (const row of rows.slice(1)) data.push(await row.locator('td').allInnerTexts());
console.log(JSON.stringify(data));
await page.$$eval('.product', nodes => nodes.map(n => ({ id: Number(n.dataset.id), name: n.querySelector('h2').innerText })))
