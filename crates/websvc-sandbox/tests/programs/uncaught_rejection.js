await page.goto('SITE/index.html');
await Promise.reject(new Error('rejected'));
1
