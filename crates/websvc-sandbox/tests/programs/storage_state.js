await page.goto('SITE/index.html');
await page.evaluate(() => localStorage.setItem('k', 'v'));
const state = await context.storageState();
[state.cookies.length, state.origins[0].localStorage]
