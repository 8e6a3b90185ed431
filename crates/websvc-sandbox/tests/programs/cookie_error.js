await context.addCookies([{ name: 'a', value: '1' }]);
1
