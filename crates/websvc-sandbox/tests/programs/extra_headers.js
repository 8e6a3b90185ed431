await page.setExtraHTTPHeaders({ 'x-test': 'yes' });
await page.goto('SITE/headers');
await page.textContent('body')
