({ a: 1, list: [1, 2], text: 'x', none: null, skip: undefined })
