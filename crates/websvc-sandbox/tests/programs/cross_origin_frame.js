await page.goto('SITE/index.html');
await page.setContent('<iframe name="other" src="OTHER/inner.html" width="300" height="200"></iframe>');
const frame = page.frameLocator('iframe');
await frame.getByRole('button').click();
console.log(await frame.getByRole('button').textContent());
await page.frame('other').evaluate(() => document.title)
