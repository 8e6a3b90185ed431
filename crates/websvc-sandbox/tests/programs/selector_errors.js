await page.goto('SITE/list.html');
try { await page.locator('foo=bar').count(); } catch (error) { console.log(error.message.split('\n')[0]); }
await page.locator('nth=x').click({ timeout: 500 });
1
