await page.goto('SITE/list.html');
for (const item of await page.locator('.product').all()) {
  console.log(await item.getAttribute('data-id'), await item.locator('h2').textContent());
}
await page.locator('td').allInnerTexts()
