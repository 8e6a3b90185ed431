await page.goto('SITE/clicks.html');
await page.evaluate(() => document.addEventListener('click', e => { window.at = [e.offsetX, e.offsetY]; }));
await page.click('#drop', { position: { x: 10, y: 20 } });
await page.evaluate(() => window.at)
