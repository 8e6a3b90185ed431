await page.goto('SITE/app.html');
const [response, request] = await Promise.all([page.waitForResponse('**/data.json'), page.waitForRequest(/data/), page.click('#data')]);
console.log(response.status(), request.method(), request.resourceType(), response.headers()['content-type']);
console.log(await response.json(), response.request() === request);
await page.waitForFunction(() => document.getElementById('view').textContent);
await page.textContent('#view')
