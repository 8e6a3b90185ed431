await page.goto('SITE/frames.html');
console.log(page.frames().length, page.frame('inner').name(), page.mainFrame() === page.frames()[0]);
const inner = page.frame({ url: /inner/ });
console.log(await inner.title(), await inner.locator('h2').textContent(), inner.parentFrame() === page.mainFrame());
await inner.fill('input', 'typed');
await inner.inputValue('input')
