await page.addInitScript(() => { window.early = 'yes'; });
await page.addInitScript(value => { window.argument = value; }, { x: 1 });
await page.goto('SITE/index.html');
await page.evaluate(() => [window.early, window.argument.x])
