await page.goto('SITE/frames.html');
const frame = page.frameLocator('iframe[name=inner]');
await frame.getByRole('button', { name: 'Press' }).click();
console.log(await frame.locator('button').textContent(), await frame.getByText('Deep').count());
console.log(await page.locator('#blank').contentFrame().locator('p').textContent());
await page.frameLocator('iframe[name=inner]').locator('.deep').innerText()
