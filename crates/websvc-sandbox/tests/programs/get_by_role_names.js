await page.goto('SITE/roles.html');
for (const name of ['Close dialog', 'Save all', 'Toggle', 'Submit', 'Clear it', 'Opens the menu', 'Cannot']) {
  console.log(name, await page.getByRole('button', { name, exact: true }).count());
}
console.log(await page.getByRole('link', { name: 'Logo' }).count(), await page.getByRole('link').count());
console.log(await page.getByRole('slider', { name: 'Volume' }).count(), await page.getByRole('searchbox').count());
await page.getByRole('button').count()
