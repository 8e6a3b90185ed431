const other = await context.newPage();
await other.goto('SITE/list.html');
console.log(await other.title(), other.context() === context, page.context() === context, context.pages().length);
await other.bringToFront();
await other.close();
await page.goto('SITE/index.html');
context.pages().length
