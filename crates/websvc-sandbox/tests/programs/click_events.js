await page.goto('SITE/clicks.html');
await page.locator('#one').dblclick();
await page.locator('#one').click({ button: 'right' });
await page.locator('#one').click({ modifiers: ['Shift'] });
await page.textContent('#events')
