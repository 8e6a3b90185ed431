const response = await page.goto('SITE/none.html');
[response.status(), response.ok()]
