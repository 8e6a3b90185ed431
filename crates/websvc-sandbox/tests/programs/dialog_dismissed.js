await page.goto('SITE/dialogs.html');
await page.click('#confirm');
console.log(await page.textContent('#out'));
await page.click('#prompt');
await page.textContent('#out')
