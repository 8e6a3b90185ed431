console.log('text', 1, true, null, undefined, { a: 1, b: 'x' }, [1, 'two']);
console.log({ nested: { deep: { deeper: { deepest: 1 } } }, list: [[1, [2, [3, [4]]]]] });
console.log(new Map([['k', { v: 1 }]]), new Set([1, 2]), [undefined, null], { f() {}, g: () => 1, C: class C {} });
console.log('%s is %d years and %j', 'Bob', 42, { x: 1 }, 'extra');
console.log([], {}, [[]], ['it\'s'], { 'a-b': 1 }, -0, 10n, Symbol('s'), new Date(0), /re/g);
console.log(Array.from({ length: 30 }, (_, i) => i * 3));
console.log({ title: 'A rather long title for a product', price: 12.5, tags: ['one', 'two'], url: 'http://example.com/products/1' });
console.log([{ name: 'Desk lamp', price: '$20' }, { name: 'Chair', price: '$45' }, { name: 'Table lamp', price: '$35' }]);
console.error('to stderr');
const loop = { name: 'loop' }; loop.self = loop;
console.log(loop, [1.5, , 3], new Error('shown').message, 'multi\nline', ['multi\nline']);
'done'
