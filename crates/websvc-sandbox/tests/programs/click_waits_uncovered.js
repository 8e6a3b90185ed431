await page.goto('SITE/clicks.html');
await page.click('#cover-button');
await page.click('#one');
await page.textContent('#clicks')
