const response = await page.goto('SITE/moved');
console.log(response.status(), new URL(page.url()).pathname);
const from = response.request().redirectedFrom();
[new URL(from.url()).pathname, (await from.response()).status()]
