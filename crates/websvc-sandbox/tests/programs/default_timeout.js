await page.goto('SITE/clicks.html');
page.setDefaultTimeout(150);
await page.click('#nothing');
1
