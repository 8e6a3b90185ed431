await page.goto('SITE/index.html');
const tools = { async find(selector) { return document.querySelector(selector).textContent; } };
function double(x) { return x * 2; }
console.log(await page.evaluate(double, 21));
await page.evaluate(tools.find, 'footer')
