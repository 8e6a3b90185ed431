await page.goto('SITE/clicks.html');
try {
  await page.waitForSelector('#never', { timeout: 150 });
} catch (error) {
  console.log(error.name, error.message.split('\n')[0]);
}
await page.locator('#never').waitFor({ timeout: 150 });
1
