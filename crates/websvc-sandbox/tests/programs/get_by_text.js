await page.goto('SITE/index.html');
console.log(await page.getByText('apple').count(), await page.getByText('Apple', { exact: true }).count());
console.log(await page.getByText(/^ban/i).getAttribute('class'), await page.getByText('Welcome to the tests').count());
await page.getByText('A bold word & more.').getAttribute('id')
