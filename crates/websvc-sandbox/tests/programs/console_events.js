await page.goto('SITE/dialogs.html');
const seen = [];
page.on('console', message => seen.push(message.type() + ': ' + message.text()));
const waiting = page.waitForEvent('console', message => message.type() === 'warning');
await page.click('#log');
console.log((await waiting).text());
seen
