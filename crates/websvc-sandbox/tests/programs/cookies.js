await page.goto('SITE/index.html');
await context.addCookies([{ name: 'a', value: '1', url: 'SITE' }]);
await page.evaluate(() => { document.cookie = 'b=2; path=/'; });
const cookies = await context.cookies();
console.log(cookies.map(c => [c.name, c.value, c.path, c.httpOnly, c.secure, c.expires]).sort());
console.log((await context.cookies('SITE')).length, (await context.cookies('https://other.example')).length);
await context.clearCookies({ name: 'a' });
console.log(await page.evaluate(() => document.cookie));
await context.clearCookies();
(await context.cookies()).length
