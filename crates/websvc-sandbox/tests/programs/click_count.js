await page.goto('SITE/clicks.html');
await page.click('#one');
await page.locator('#one').click({ clickCount: 2 });
await page.textContent('#clicks')
