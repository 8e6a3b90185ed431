await page.goto('SITE/index.html');
let message = '';
try {
  await page.getByRole('button', { name: 'Nope' }).click({ timeout: 100 });
} catch (error) {
  message = error.name + '|' + error.message.split('\n')[0];
}
message
