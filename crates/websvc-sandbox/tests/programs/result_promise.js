await page.goto('SITE/index.html');
page.title()
