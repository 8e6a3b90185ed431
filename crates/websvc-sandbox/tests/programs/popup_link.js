await page.goto('SITE/dialogs.html');
const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('#pop')]);
await popup.waitForLoadState();
console.log(await popup.title(), context.pages().length);
await popup.getByRole('button').click();
console.log(await popup.textContent('button'));
await popup.close();
[popup.isClosed(), context.pages().length]
