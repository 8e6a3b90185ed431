await page.goto('SITE/index.html');
const same = await page.goto('SITE/index.html#part');
[same, new URL(page.url()).hash]
