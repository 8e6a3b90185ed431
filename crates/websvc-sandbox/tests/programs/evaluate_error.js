await page.goto('SITE/index.html');
await page.evaluate(() => { throw new RangeError('from the page'); });
1
