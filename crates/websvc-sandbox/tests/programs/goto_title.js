const response = await page.goto('SITE/index.html');
console.log(response.status(), response.ok(), await page.title(), page.url().endsWith('/index.html'));
await page.title()
