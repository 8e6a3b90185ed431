await page.goto('SITE/roles.html');
console.log(await page.getByRole('heading', { level: 2 }).textContent(), await page.getByRole('heading').count());
console.log(await page.getByRole('heading', { level: 4 }).textContent(), await page.getByRole('checkbox', { checked: true }).count());
console.log(await page.getByRole('tab', { selected: true }).textContent(), await page.getByRole('button', { pressed: true }).textContent());
console.log(await page.getByRole('button', { disabled: true }).count(), await page.getByRole('button', { expanded: false }).count());
console.log(await page.getByRole('button', { includeHidden: true }).count(), await page.getByRole('navigation').count());
console.log(await page.getByRole('region', { name: 'Part one' }).count(), await page.getByRole('alert').textContent());
await page.locator('role=button[name="Close dialog"]').count()
