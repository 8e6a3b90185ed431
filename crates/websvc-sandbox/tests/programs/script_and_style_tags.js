await page.goto('SITE/index.html');
await page.addScriptTag({ content: 'window.added = 7' });
await page.addStyleTag({ content: 'h1 { color: rgb(1, 2, 3) }' });
[await page.evaluate(() => window.added), await page.$eval('h1', e => getComputedStyle(e).color)]
