await page.goto('SITE/list.html');
console.log(await page.locator('button').and(page.locator(':disabled')).count());
console.log(await page.locator('h2').or(page.locator('em')).allTextContents());
await page.locator('h1, h2').count()
