await page.goto('SITE/clicks.html');
await page.evaluate(() => { document.getElementById('cover').style.display = 'block'; });
await page.click('#one', { force: true });
await page.textContent('#clicks')
