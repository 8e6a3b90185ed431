await page.goto('SITE/form.html');
const name = page.locator('#name');
const locked = page.locator('#locked');
console.log(await name.isVisible(), await name.isEnabled(), await name.isEditable(), await name.isHidden());
console.log(await locked.isEnabled(), await locked.isDisabled(), await locked.isEditable());
console.log(await page.locator('#readonly').isEditable(), await page.isVisible('#nothing'), await page.isHidden('#nothing'));
await page.getByRole('button', { name: 'Disabled one' }).isDisabled()
