await page.setViewportSize({ width: 300, height: 200 });
await page.goto('SITE/clicks.html');
const png = await page.screenshot();
const full = await page.screenshot({ fullPage: true });
const view = image => new DataView(image.buffer, image.byteOffset);
const size = image => [view(image).getUint32(16), view(image).getUint32(20)];
console.log(size(png), size(full)[1] > 1000, png.toString('base64').slice(0, 8));
const jpeg = await page.screenshot({ type: 'jpeg', quality: 50 });
const part = await page.locator('#drop').screenshot();
const clip = await page.screenshot({ clip: { x: 0, y: 0, width: 50, height: 40 } });
console.log(jpeg[0], jpeg[1], size(part), size(clip));
Buffer.isBuffer(png)
