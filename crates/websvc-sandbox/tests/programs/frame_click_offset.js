await page.goto('SITE/frames.html');
await page.frame('inner').click('button');
const box = await page.frameLocator('[name=inner]').locator('button').boundingBox();
console.log(box.y > 100);
await page.frame('inner').textContent('button')
