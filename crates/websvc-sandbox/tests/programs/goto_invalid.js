await page.goto('not a url');
1
