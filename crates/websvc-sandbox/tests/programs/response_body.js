const response = await page.goto('SITE/inner.html');
console.log((await response.text()).slice(0, 15), (await response.body()).length > 20);
[response.request().isNavigationRequest(), response.request().resourceType(), response.frame() === page.mainFrame()]
