await page.goto('SITE/list.html');
console.log(await page.getByRole('table', { name: 'Stock' }).count(), await page.getByRole('row').count());
console.log(await page.getByRole('columnheader').allTextContents(), await page.getByRole('cell', { name: 'Lamp' }).count());
await page.getByRole('row', { name: 'Chair 2' }).count()
