await page.goto('SITE/clicks.html');
await page.locator('#one').click({ trial: true });
await page.textContent('#clicks')
