await page.goto('SITE/clicks.html');
await page.click('#far');
console.log(await page.evaluate(() => scrollY > 0));
await page.textContent('#events')
