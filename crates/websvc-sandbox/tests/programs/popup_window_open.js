await page.goto('SITE/dialogs.html');
const [popup] = await Promise.all([context.waitForEvent('page'), page.getByText('Window').click()]);
await popup.waitForLoadState();
console.log(await popup.title(), (await popup.opener()) === page);
context.pages().length
