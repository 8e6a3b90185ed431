await page.goto('http://127.0.0.1:9/', { timeout: 5000 });
1
