await page.goto('SITE/index.html');
console.log(JSON.stringify(await page.textContent('h1')), JSON.stringify(await page.innerText('h1')));
console.log(await page.innerHTML('#intro'), await page.getAttribute('#intro', 'class'));
console.log(await page.getAttribute('#intro', 'nope'), await page.locator('#hidden').innerText());
await page.locator('#fruits li').allInnerTexts()
