await page.goto('SITE/list.html');
console.log(await page.locator('.product >> nth=1 >> .price').textContent());
console.log(await page.locator('xpath=//h2').count(), await page.locator('//h2[contains(., "Table")]').textContent());
console.log(await page.locator('text="Chair"').count(), await page.locator('text=/^desk/i').count());
await page.locator('css=.product >> text=Buy').count()
