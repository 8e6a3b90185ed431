const start = Date.now();
await page.waitForTimeout(50);
Date.now() - start >= 45
