await page.goto('SITE/index.html');
await page.goto('SITE/list.html');
const back = await page.goBack();
console.log(back.status(), await page.title());
const forward = await page.goForward();
console.log(await page.title(), await page.goForward());
await page.evaluate(() => { window.mark = 1; });
const again = await page.reload();
console.log(again.status(), await page.evaluate(() => window.mark));
await page.title()
