await page.goto('SITE/clicks.html');
console.log(await page.isVisible('.item'));
await page.hover('.menu');
await page.isVisible('.item')
