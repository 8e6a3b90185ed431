await page.goto('SITE/list.html');
const seen = [];
for (let i = 0; i < 2; i++) {
  await page.getByRole('link', { name: 'Next' }).click();
  seen.push(new URL(page.url()).search);
}
seen
