await page.goto('SITE/clicks.html');
await page.evaluate(() => { setTimeout(() => { window.ready = { n: 5 }; }, 100); });
const handle = await page.waitForFunction(limit => window.ready && window.ready.n > limit && window.ready, 4);
await handle.jsonValue()
