await page.goto('SITE/index.html');
await page.setContent(`<div style="height:3000px">far</div><iframe id="same" src="SITE/inner.html" width="300" height="200"></iframe>
  <div style="height:3000px">far</div><iframe id="other" src="OTHER/frames.html" width="300" height="120"></iframe>`);
await page.frameLocator('#same').getByRole('button').click();
console.log(await page.frameLocator('#same').getByRole('button').textContent());
const nested = page.frameLocator('#other').frameLocator('[name=inner]').getByRole('button');
await nested.click();
console.log(await nested.textContent());
await page.frameLocator('#same').locator('.deep').hover();
await page.evaluate(() => scrollY > 2000 && scrollY < 4000)
