await page.goto('SITE/index.html');
await Promise.all([page.waitForURL('**/form.html'), page.getByRole('link', { name: 'Form' }).click()]);
await page.title()
