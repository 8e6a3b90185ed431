await page.goto('SITE/form.html');
await page.focus('#name');
await page.keyboard.type('Hello World');
await page.keyboard.press('Backspace');
await page.keyboard.down('Shift');
for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowLeft');
await page.keyboard.up('Shift');
await page.keyboard.press('Delete');
await page.keyboard.press('Home');
await page.keyboard.insertText('> ');
await page.inputValue('#name')
