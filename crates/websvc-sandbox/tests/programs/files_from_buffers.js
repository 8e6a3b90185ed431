await page.setContent(`<input id="one" type="file"><input id="many" type="file" multiple><p id="seen"></p><script>
  for (const field of document.querySelectorAll('input')) {
    for (const type of ['input', 'change']) field.addEventListener(type, async () => {
      const texts = await Promise.all([...field.files].map(async file => file.name + ' ' + file.type + ' ' + await file.text()));
      document.getElementById('seen').append(type + ': ' + texts.join(', ') + '; ');
    });
  }
</script>`);
const text = (name, content) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
await page.locator('#one').setInputFiles(text('a.txt', 'hello wörld\n'));
await page.setInputFiles('#many', [text('b.txt', 'b'), { name: 'c.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0, 255]) }]);
await page.waitForFunction(() => document.getElementById('seen').textContent.split(';').length === 5);
console.log(await page.locator('#seen').textContent());
console.log(await page.evaluate(() => document.getElementById('many').files.length));
await (await page.$('#many')).setInputFiles([]);
await page.evaluate(() => document.getElementById('many').files.length)
