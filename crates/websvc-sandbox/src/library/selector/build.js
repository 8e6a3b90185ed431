// The methods that make locators: `locator` and `getBy…`, for pages, frames and locators.

function describeText(text) {
  return text instanceof RegExp ? String(text) : quote(text);
}

function describeOptions(options) {
  const parts = Object.entries(options).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value instanceof RegExp ? value : typeof value === 'string' ? quote(value) : value}`);
  return parts.length ? `, { ${parts.join(', ')} }` : '';
}

function textLocator(name, text, { exact } = {}, makePart) {
  return {
    parts: [makePart(textOf(text, exact))],
    description: `${name}(${describeText(text)}${exact ? ', { exact: true }' : ''})`,
  };
}

const attributePart = name => text => ({ by: 'attribute', name, text });

const LOCATORS = {
  getByText: (text, options) => textLocator('getByText', text, options, matcher => ({ by: 'text', text: matcher })),
  getByLabel: (text, options) => textLocator('getByLabel', text, options, matcher => ({ by: 'label', text: matcher })),
  getByPlaceholder: (text, options) => textLocator('getByPlaceholder', text, options, attributePart('placeholder')),
  getByAltText: (text, options) => textLocator('getByAltText', text, options, attributePart('alt')),
  getByTitle: (text, options) => textLocator('getByTitle', text, options, attributePart('title')),
  getByTestId: text => ({
    parts: [attributePart(testIdAttribute)(textOf(text, true))], description: `getByTestId(${describeText(text)})`,
  }),
  getByRole: (role, options = {}) => {
    const { name, exact, ...states } = options;
    const known = { ...states };
    if (name !== undefined) known.name = textOf(name, exact);
    return {
      parts: [{ by: 'role', role: String(role).toLowerCase(), options: known }],
      description: `getByRole(${quote(String(role))}${describeOptions({ name, exact, ...states })})`,
    };
  },
};

// Returns the parts and the description of the options of `locator` and `filter`.
function filterParts(options = {}) {
  const { hasText, hasNotText, has, hasNot, visible } = options;
  const parts = [];
  let description = '';
  const add = (part, key, text) => {
    parts.push(part);
    description += `.filter({ ${key}: ${text} })`;
  };
  if (hasText !== undefined) add({ by: 'hasText', text: textOf(hasText), not: false }, 'hasText', describeText(hasText));
  if (hasNotText !== undefined) {
    add({ by: 'hasText', text: textOf(hasNotText), not: true }, 'hasNotText', describeText(hasNotText));
  }
  if (has !== undefined) add({ by: 'has', parts: innerParts(has), not: false }, 'has', has._description);
  if (hasNot !== undefined) add({ by: 'has', parts: innerParts(hasNot), not: true }, 'hasNot', hasNot._description);
  if (visible !== undefined) add({ by: 'visible', visible: !!visible }, 'visible', visible);
  return { parts, description };
}

function innerParts(locator) {
  if (!(locator instanceof Locator)) throw new Error('Inner locator must be a locator');
  if (locator._parts.some(part => part.by === 'frame')) throw new Error('Inner locator must belong to the same frame.');
  return locator._parts;
}

// Adds the methods to a class. `make` creates a locator from `this`, parts and a description.
function addLocatorMethods(type, make) {
  for (const [name, build] of Object.entries(LOCATORS)) {
    const method = function (...values) {
      const { parts, description } = build(...values);
      return make(this, parts, description);
    };
    Object.defineProperty(method, 'name', { value: name });
    Object.defineProperty(type.prototype, name, { value: method, writable: true, configurable: true });
  }
  Object.defineProperty(type.prototype, 'locator', {
    writable: true, configurable: true,
    value: function locator(selector, options) {
      const filter = filterParts(options);
      if (selector instanceof Locator) {
        return make(this, [...selector._parts, ...filter.parts], selector._description + filter.description);
      }
      const description = `locator(${quote(selector)})${filter.description}`;
      return make(this, [...parseLater(selector), ...filter.parts], description);
    },
  });
}
