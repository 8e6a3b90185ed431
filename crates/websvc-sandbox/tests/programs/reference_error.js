await page.goto('SITE/index.html');
missingFunction();
1
