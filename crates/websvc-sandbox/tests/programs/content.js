await page.setContent('<h1>Set</h1><p>content</p>');
console.log(await page.content());
await page.textContent('p')
