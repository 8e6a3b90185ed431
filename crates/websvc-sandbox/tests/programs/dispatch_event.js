await page.goto('SITE/clicks.html');
await page.dispatchEvent('#one', 'click');
await page.locator('#one').dispatchEvent('click', { shiftKey: true });
await page.textContent('#events')
