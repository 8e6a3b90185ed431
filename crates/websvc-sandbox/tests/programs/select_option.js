await page.goto('SITE/form.html');
console.log(await page.selectOption('#color', 'g'));
console.log(await page.locator('#color').selectOption({ label: 'Red' }));
console.log(await page.locator('#color').selectOption('Green'));
console.log(await page.getByLabel('Many').selectOption(['one', 'three']));
console.log(await page.locator('#color').selectOption({ index: 0 }));
await page.locator('#color').inputValue()
