const order = [];
setTimeout(() => order.push('b'), 30);
setTimeout(value => order.push(value), 1, 'a');
const stop = setInterval(() => order.push('i'), 8);
clearTimeout(setTimeout(() => order.push('never'), 5));
await new Promise(resolve => setTimeout(resolve, 60));
clearInterval(stop);
[order.filter(item => item !== 'i'), order.includes('i')]
