await page.goto('SITE/app.html');
await page.click('#go');
await page.waitForURL(/done/);
console.log(await page.title());
new URL(page.url()).search
