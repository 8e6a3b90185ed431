await page.goto('SITE/index.html');
const pdf = await page.pdf({ format: 'A4' });
pdf.toString('latin1', 0, 5)
