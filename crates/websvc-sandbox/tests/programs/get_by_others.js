await page.goto('SITE/index.html');
console.log(await page.getByTestId('intro').innerText(), await page.getByAltText('small dot').count());
console.log(await page.getByTitle('All products').textContent());
await page.goto('SITE/form.html');
console.log(await page.getByLabel('full name').getAttribute('id'), await page.getByLabel('Notes').inputValue());
await page.getByPlaceholder(/jane/i).count()
