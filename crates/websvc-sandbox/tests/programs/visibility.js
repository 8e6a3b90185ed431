await page.goto('SITE/index.html');
console.log(await page.isVisible('#hidden'), await page.isVisible('#ghost'), await page.isVisible('#intro'));
await page.locator('p:visible').count()
