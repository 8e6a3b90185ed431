await page.goto('SITE/dialogs.html');
page.on('dialog', async dialog => {
  console.log(dialog.type(), dialog.message(), dialog.defaultValue());
  if (dialog.type() === 'prompt') await dialog.accept('Bob');
  else await dialog.accept();
});
await page.click('#alert');
await page.click('#confirm');
console.log(await page.textContent('#out'));
await page.click('#prompt');
await page.textContent('#out')
