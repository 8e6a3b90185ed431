await page.goto('SITE/clicks.html');
await page.click('#add');
const element = await page.waitForSelector('#added');
console.log(await element.textContent());
await page.waitForSelector('#added', { state: 'detached' });
await page.locator('#added').count()
