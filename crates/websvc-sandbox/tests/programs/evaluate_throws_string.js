await page.goto('SITE/index.html');
await page.evaluate(() => { throw 'just text'; });
1
