console.log('before');
throw new TypeError('my own failure');
1
