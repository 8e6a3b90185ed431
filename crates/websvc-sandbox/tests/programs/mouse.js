await page.goto('SITE/clicks.html');
const box = await page.locator('#one').boundingBox();
await page.mouse.move(box.x + 5, box.y + 5);
await page.mouse.down();
await page.mouse.up();
await page.mouse.click(box.x + 5, box.y + 5, { button: 'middle' });
await page.mouse.wheel(0, 120);
await page.waitForFunction(() => document.getElementById('events').textContent.includes('wheel'));
await page.textContent('#events')
