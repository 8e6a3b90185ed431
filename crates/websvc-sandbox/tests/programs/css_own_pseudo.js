await page.goto('SITE/list.html');
console.log(await page.locator('.product:has-text("chair") .price').textContent());
console.log(await page.locator('div:has(em) > h2').textContent());
console.log(await page.locator('h2:text("lamp")').count(), await page.locator('h2:text-is("Chair")').count());
console.log(await page.locator(':nth-match(.product, 2)').getAttribute('data-id'));
await page.locator('p:visible a').count()
