await page.goto('SITE/form.html');
await page.getByPlaceholder('Jane Doe').fill('x');
await page.getByPlaceholder('Jane Doe').press('Enter');
await page.waitForURL('**/submitted.html**');
await page.textContent('h1')
