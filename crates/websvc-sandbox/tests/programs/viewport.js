await page.setViewportSize({ width: 640, height: 480 });
await page.goto('SITE/index.html');
console.log(page.viewportSize());
await page.evaluate(() => [innerWidth, innerHeight])
