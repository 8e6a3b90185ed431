await page.goto('SITE/index.html');
await page.setContent('<a href="SITE/file.bin" download="data.bin">Get it</a>');
const [download] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
[download.suggestedFilename(), new URL(download.url()).pathname]
