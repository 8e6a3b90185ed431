const url = new URL('../b/c?x=1&y=a%20b#top', 'https://user@example.com:8443/a/d/e');
console.log(url.href, url.host, url.port, url.pathname, url.searchParams.get('y'), url.hash, url.origin);
url.searchParams.set('x', '2 3');
url.searchParams.append('z', '&');
console.log(url.search, String(new URLSearchParams({ q: 'a b', r: 'c' })));
console.log(new URL('https://example.com').href, new URL('http://example.com:80/%7Efoo/./bar/../baz').href);
Buffer.from('héllo').toString('base64') + ' ' + btoa('hi') + ' ' + atob('aGk=')
