await page.goto('SITE/clicks.html');
await page.click('#late');
await page.textContent('#events')
