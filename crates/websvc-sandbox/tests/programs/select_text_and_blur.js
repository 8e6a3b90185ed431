await page.goto('SITE/form.html');
await page.locator('#notes').selectText();
await page.keyboard.type('over');
await page.locator('#notes').blur();
console.log(await page.locator('#notes').inputValue());
await page.evaluate(() => document.activeElement.tagName)
