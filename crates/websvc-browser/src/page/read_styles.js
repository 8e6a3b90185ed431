// Returns the computed styles of a bounded number of elements, as {w, h, dw, dh, items, logos, ...}; short names keep
// the message small. It only reads. It runs in an isolated world and takes all properties from the prototypes there,
// because a form or an image with a name such as `body` hides the property of its document.
((maxVisited, maxStyled, maxMs) => {
  // The time limit starts to count after a number of elements, so that the result for a small page does not depend on the
  // load of the machine.
  const UNTIMED_VISITS = 2048, UNTIMED_ITEMS = 150, UNTIMED_LOGOS = 5;
  const started = performance.now();
  const isLate = () => performance.now() - started > maxMs;
  const getter = (type, name) => {
    const { get } = Object.getOwnPropertyDescriptor(type.prototype, name);
    return (object) => get.call(object);
  };
  const method = (type, name) => {
    const call = type.prototype[name];
    return (object, ...args) => call.apply(object, args);
  };
  const nameOf = getter(Element, 'localName');
  const firstChild = getter(Element, 'firstElementChild');
  const nextSibling = getter(Element, 'nextElementSibling');
  const shadowOf = getter(Element, 'shadowRoot');
  const slotOf = getter(Element, 'assignedSlot');
  const parentNode = getter(Node, 'parentNode');
  const firstOfFragment = getter(DocumentFragment, 'firstElementChild');
  const hostOf = getter(ShadowRoot, 'host');
  const attributeOf = method(Element, 'getAttribute');
  const attributesOf = getter(Element, 'attributes');
  const removeAttribute = method(Element, 'removeAttributeNode');
  const remove = method(Element, 'remove');
  const rectOf = method(Element, 'getBoundingClientRect');
  const isShown = method(Element, 'checkVisibility');
  const walkerOf = method(Document, 'createTreeWalker');
  const byId = method(Document, 'getElementById');
  const dataOf = getter(CharacterData, 'data');
  const root = getter(Document, 'documentElement')(document);
  const body = getter(Document, 'body')(document);
  if (!root) return null;
  // Without half a character at the end, which JSON cannot have.
  const start = (text, limit) => text.slice(0, limit).toWellFormed();
  const attribute = (element, name) => start(attributeOf(element, name) ?? '', 2000);
  const labelOf = (element) =>
    start(`${attribute(element, 'aria-label')} ${attribute(element, 'title')}`.trim(), 120);
  const absolute = (url) => {
    try { return new URL(url, getter(Node, 'baseURI')(document)).href; } catch { return ''; }
  };

  const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'head', 'iframe', 'option', 'link', 'meta',
    'object', 'canvas', 'video', 'audio']);
  const TEXT_FIELDS = new Set(['', 'text', 'email', 'search', 'tel', 'url', 'password', 'number']);
  const TEXTS = new Set(['p', 'li', 'blockquote', 'dd', 'figcaption', 'small', 'label', 'td', 'span']);
  const BOXES = new Set(['html', 'body', 'div', 'section', 'header', 'main', 'nav', 'footer', 'article', 'aside',
    'ul', 'form', 'fieldset', 'table']);
  const OVERLAY = /cookie|consent|gdpr|onetrust|usercentrics|didomi|cookiebot|cmp-|-cmp|modal|popup|pop-up|lightbox/i;
  const STATUS = /(^|[\s_-])(success|warning|error|danger|invalid)([\s_-]|$)/i;
  const LOGO = /logo|brand/i;
  const MAX_URL = 64000;
  // The elements of SVG that an image has. Others may embed HTML or run scripts.
  const DRAWN = new RegExp('^(svg|g|defs|symbol|use|a|switch|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|textPath'
    + '|image|title|desc|style|linearGradient|radialGradient|stop|pattern|clipPath|mask|marker|filter|fe[A-Z][A-Za-z]*'
    + '|animate|animateTransform|animateMotion|mpath|set)$');
  // Names of parts of the page, not of parts of cards and sections such as `card-header`.
  const HEADER = /^(site-|main-|global-)?(header|masthead|navbar|nav-bar|topbar|top-bar|app-?bar)([_-].*)?$/i;
  const FOOTER = /^(site-|main-|global-)?footer([_-].*)?$/i;

  // One record per visited element, and the candidates by kind.
  const infos = new Map();
  const kinds = { h1: [], h2: [], h3: [], button: [], input: [], text: [], link: [], code: [], status: [], box: [] };
  const images = [];
  const tokens = new Set();
  const add = (kind, info, limit) => { if (kinds[kind].length < limit) kinds[kind].push(info); };

  const regionOf = (element, tag, names, role, parent) => {
    const outer = parent?.region ?? '';
    if (outer === 'overlay') return outer;
    const isDialog = tag === 'dialog' || role === 'dialog' || role === 'alertdialog'
      || attribute(element, 'aria-modal') === 'true';
    if (isDialog) return 'overlay';
    if (OVERLAY.test(names) && tag !== 'body' && tag !== 'html') {
      const { position } = getComputedStyle(element);
      if (position === 'fixed' || position === 'sticky' || position === 'absolute') return 'overlay';
    }
    if (outer === 'footer') return outer;
    if (role === 'contentinfo' || (tag === 'footer' && !parent?.sectioned)) return 'footer';
    const isPart = tag !== 'body' && !parent?.sectioned;
    const has = (pattern) => isPart && names.split(/\s+/).some((name) => pattern.test(name));
    if (has(FOOTER)) return 'footer';
    if (outer === 'header') return outer;
    if (role === 'banner' || (tag === 'header' && !parent?.sectioned)) return 'header';
    if ((parent?.depth ?? 0) < 12 && has(HEADER)) return 'header';
    if (tag === 'nav' || role === 'navigation') return outer === 'main' ? outer : 'nav';
    if (tag === 'main' || role === 'main') return 'main';
    return outer;
  };

  const visit = (element) => {
    const tag = nameOf(element);
    const slot = slotOf(element);
    const above = slot ?? parentNode(element);
    const parent = infos.get(above instanceof ShadowRoot ? hostOf(above) : above);
    const names = start(`${attribute(element, 'class')} ${attribute(element, 'id')}`, 300);
    const role = attribute(element, 'role');
    const info = { element, tag, names, parent, depth: (parent?.depth ?? -1) + 1, images: 0, link: parent?.link };
    info.region = regionOf(element, tag, names, role, parent);
    info.sectioned = parent?.sectioned || tag === 'article' || tag === 'section' || tag === 'aside';
    infos.set(element, info);
    if (tokens.size < 600) {
      for (const token of names.split(/\s+/)) if (token && token.length <= 40 && tokens.size < 600) tokens.add(token);
    }
    if (tag === 'a' && attributeOf(element, 'href') !== null) {
      info.link = { href: absolute(attribute(element, 'href')), info,
        label: labelOf(element) };
    }
    if (tag === 'img' || tag === 'svg') {
      for (let up = parent, level = 0; up && level < 6; up = up.parent, level++) up.images++;
      if (images.length < 400) images.push(info);
      return false;
    }
    // A logo may be the background of a box with such a name, or of the link in it.
    const isNamed = LOGO.test(names) || (tag === 'a' && parent && LOGO.test(parent.names));
    if (isNamed && tag !== 'html' && tag !== 'body' && images.length < 400) {
      info.isBox = true;
      images.push(info);
    }
    if (STATUS.test(names)) { add('status', info, 12); }
    if (tag === 'h1' || tag === 'h2' || tag === 'h3') add(tag, info, 12);
    else if (tag === 'button' || role === 'button') add('button', info, 80);
    else if (tag === 'input') {
      const type = attribute(element, 'type').toLowerCase();
      if (type === 'submit' || type === 'button') add('button', info, 80);
      else if (TEXT_FIELDS.has(type)) add('input', info, 12);
    } else if (tag === 'textarea' || tag === 'select') add('input', info, 12);
    else if (tag === 'a') add('link', info, 150);
    else if (tag === 'pre' || tag === 'code' || tag === 'kbd') add('code', info, 4);
    else if (TEXTS.has(tag)) add('text', info, 400);
    if (BOXES.has(tag) || tag.includes('-')) add('box', info, 2500);
    return true;
  };

  const stack = [root];
  let visited = 0, isCut = false;
  while (stack.length) {
    if (visited++ >= maxVisited || (visited > UNTIMED_VISITS && visited % 256 === 0 && isLate())) { isCut = true; break; }
    const element = stack.pop();
    const next = element === root ? null : nextSibling(element);
    if (next) stack.push(next);
    if (SKIPPED.has(nameOf(element)) || !visit(element)) continue;
    const child = firstChild(element);
    if (child) stack.push(child);
    const shadow = shadowOf(element);
    const inner = shadow && firstOfFragment(shadow);
    if (inner) stack.push(inner);
  }

  const styleOf = (info) => (info.style ??= getComputedStyle(info.element));
  const opacityOf = (info) => {
    const chain = [];
    let up = info;
    for (; up && up.opacity === undefined && chain.length < 200; up = up.parent) chain.push(up);
    let opacity = up?.opacity ?? 1;
    for (const each of chain.reverse()) opacity = each.opacity = opacity * (parseFloat(styleOf(each).opacity) || 0);
    return opacity;
  };
  const paintOf = (info) => {
    if (info.paint === undefined) {
      const { backgroundColor, backgroundImage } = styleOf(info);
      const image = backgroundImage.includes('gradient(') ? start(backgroundImage, 400)
        : backgroundImage === 'none' ? '' : 'url';
      info.paint = { color: backgroundColor === 'rgba(0, 0, 0, 0)' ? '' : backgroundColor, image };
    }
    return info.paint;
  };
  // The painted layers behind an element, from the top: colors and gradients with their opacity.
  const layersOf = (info) => {
    const layers = [];
    let steps = 0;
    for (let up = info; up && layers.length < 6 && steps < 100; up = up.parent, steps++) {
      const { color, image } = paintOf(up);
      if (!color && !image) continue;
      const opacity = opacityOf(up);
      if (image) layers.push([image, opacity]);
      if (color) layers.push([color, opacity]);
      if (color.startsWith('rgb(') && opacity > 0.99) break;
    }
    return layers;
  };
  const textOf = (element, limit) => {
    const walker = walkerOf(document, element, NodeFilter.SHOW_TEXT);
    let text = '';
    for (let nodes = 0; nodes < 40 && text.length < limit && walker.nextNode(); nodes++) {
      text += `${dataOf(walker.currentNode).slice(0, limit)} `;
    }
    return start(text.replace(/\s+/g, ' ').trim(), limit);
  };
  const boxOf = (info) => {
    const { x, y, width, height } = rectOf(info.element);
    const limit = (value) => Math.max(-1e7, Math.min(1e7, Math.round(value) || 0));
    return [x + scrollX, y + scrollY, width, height].map(limit);
  };
  const VISIBLE = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
  const isVisible = (info, [x, y, width, height]) =>
    isShown(info.element, VISIBLE) && width > 1 && height > 1 && x + width > 0 && y + height > 0;

  const items = [];
  const describe = (info, kind) => {
    const box = boxOf(info);
    if (!isVisible(info, box) && kind !== 'root') return;
    const { element, tag, names, region } = info;
    const style = styleOf(info);
    const paint = paintOf(info);
    const item = { k: kind, t: tag, n: start(names.trim(), 120), g: region, r: box, o: opacityOf(info),
      l: layersOf(info), own: !!(paint.color || paint.image), c: style.color };
    const isBox = kind === 'box' || kind === 'root';
    if (!isBox || kind === 'root') {
      Object.assign(item, { f: start(style.fontFamily, 300), z: style.fontSize, w: style.fontWeight,
        lh: style.lineHeight });
    }
    item.s = [style.paddingTop, style.paddingRight, style.paddingBottom, style.paddingLeft, style.marginTop,
      style.marginBottom, style.rowGap, style.columnGap];
    item.d = [style.borderTopLeftRadius, style.borderTopRightRadius, style.borderBottomRightRadius,
      style.borderBottomLeftRadius];
    if (parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== 'none') item.b = style.borderTopColor;
    if (style.boxShadow !== 'none') item.sh = start(style.boxShadow, 200);
    if (!isBox) {
      const value = tag === 'input' ? attribute(element, 'value') || attribute(element, 'placeholder') : '';
      item.x = start(value, 80) || textOf(element, kind === 'text' ? 200 : 80);
      if (kind === 'button' || kind === 'link') {
        item.x ||= start(attribute(element, 'aria-label'), 80);
        item.off = attributeOf(element, 'disabled') !== null || attribute(element, 'aria-disabled') === 'true';
        item.tx = info.parent && TEXTS.has(info.parent.tag);
      }
    }
    items.push(item);
  };
  const room = (kind) => kind === 'root' || items.length < UNTIMED_ITEMS || (items.length < maxStyled && !isLate());
  const sample = (list, kind, limit) => {
    let described = 0;
    for (const info of list) {
      if (described >= limit) return;
      if (!room(kind)) { isCut = true; return; }
      const before = items.length;
      describe(info, kind);
      described += items.length - before;
    }
  };
  // Spread over the page, so that a long menu does not take all places.
  const spread = (list, limit) => {
    if (list.length <= limit) return list;
    const step = list.length / limit;
    return Array.from({ length: limit }, (_, index) => list[Math.floor(index * step)]);
  };
  for (const element of [root, body]) {
    const info = element && infos.get(element);
    if (info) describe(info, 'root');
  }
  sample(kinds.h1, 'h1', 3);
  sample(kinds.button, 'button', 60);
  sample(kinds.input, 'input', 8);
  sample(kinds.h2, 'h2', 6);
  sample(kinds.h3, 'h3', 4);
  const paragraphs = kinds.text.filter(({ tag }) => tag === 'p');
  sample(spread(paragraphs, 40), 'text', 40);
  sample(spread(kinds.link, 110), 'link', 110);
  sample(spread(kinds.text.filter(({ tag }) => tag !== 'p'), 50), 'text', 50);
  sample(kinds.code, 'code', 3);
  sample(kinds.status, 'status', 12);
  const boxes = kinds.box.filter(({ element }) => element !== root && element !== body);
  boxes.sort((one, other) => one.depth - other.depth);
  sample(boxes.slice(0, 260), 'box', 200);

  // The SVG as text, with the symbols that it uses and the colors that the style sheets of the page give it.
  const svgText = (svg) => {
    if (svg.querySelectorAll('*').length > 1000) return '';
    const inert = document.implementation.createHTMLDocument('');
    const copy = inert.importNode(svg, true);
    const style = getComputedStyle(svg);
    const shapes = svg.querySelectorAll('path, rect, circle, ellipse, polygon, polyline, line, text, g, use');
    const twins = copy.querySelectorAll('path, rect, circle, ellipse, polygon, polyline, line, text, g, use');
    if (shapes.length === twins.length) {
      for (let index = 0; index < Math.min(shapes.length, 80); index++) {
        if (attributeOf(shapes[index], 'class') === null) continue;
        const { fill, stroke } = getComputedStyle(shapes[index]);
        if (!fill.includes('url')) twins[index].setAttribute('fill', fill);
        if (stroke !== 'none' && !stroke.includes('url')) twins[index].setAttribute('stroke', stroke);
      }
    }
    let used = 0;
    for (const use of copy.querySelectorAll('use')) {
      const href = use.getAttribute('href') ?? use.getAttribute('xlink:href') ?? '';
      if (!href.startsWith('#')) return '';
      const target = byId(document, href.slice(1));
      if (!target || used++ > 10 || target.querySelectorAll('*').length > 200) return '';
      if (!copy.querySelector(`[id="${CSS.escape(href.slice(1))}"]`)) copy.append(inert.importNode(target, true));
    }
    // Nothing in it runs if a reader of the design writes it into a page. There, the case of names does not count, and other
    // elements may be those of HTML.
    for (const each of copy.querySelectorAll('*')) {
      if (!(each instanceof SVGElement) || !DRAWN.test(nameOf(each))) remove(each);
    }
    for (const each of [copy, ...copy.querySelectorAll('*')]) {
      for (const attribute of [...attributesOf(each)]) {
        const name = attribute.name.toLowerCase(), value = attribute.value.trim();
        const isHandler = name.startsWith('on');
        const isLink = name === 'href' || name.endsWith(':href');
        if (isHandler || (isLink && !/^(#|data:image\/)/.test(value))) removeAttribute(each, attribute);
        // An animation could set what is removed here.
        if (name === 'attributename' && /^on|href$/i.test(value)) remove(each);
      }
    }
    const { width, height } = rectOf(svg);
    copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    copy.setAttribute('width', Math.round(width));
    copy.setAttribute('height', Math.round(height));
    copy.setAttribute('color', style.color);
    if (!copy.hasAttribute('fill') && style.fill !== 'rgb(0, 0, 0)') copy.setAttribute('fill', style.fill);
    copy.removeAttribute('class');
    copy.removeAttribute('style');
    return new XMLSerializer().serializeToString(copy).toWellFormed();
  };
  const chainOf = (info) => {
    let names = '';
    for (let up = info, level = 0; up && level < 5 && up.tag !== 'body'; up = up.parent, level++) names += `${up.names} | `;
    return start(names, 400);
  };
  const countsOf = (info) => {
    const counts = [];
    for (let up = info.parent; up && counts.length < 5 && up.tag !== 'body'; up = up.parent) counts.push(up.images);
    return counts;
  };
  const urlOf = (image) => {
    const source = getter(HTMLImageElement, 'currentSrc')(image) || absolute(attribute(image, 'src'));
    const isPlaceholder = !source || (source.startsWith('data:') && source.length < 400 && !source.includes('svg'));
    if (!isPlaceholder) return source;
    for (const name of ['data-src', 'data-lazy-src', 'data-original']) {
      const lazy = attributeOf(image, name);
      if (lazy && lazy.length <= MAX_URL) return absolute(lazy);
    }
    return source;
  };
  const logos = [];
  let svgs = 0;
  for (const info of images) {
    if (logos.length >= 40 || (logos.length >= UNTIMED_LOGOS && isLate())) break;
    const { element, tag, region, link } = info;
    const box = boxOf(info);
    if (!isVisible(info, box)) continue;
    const alt = tag === 'svg' ? '' : start(attribute(element, 'alt'), 120);
    const own = labelOf(element);
    const names = chainOf(info);
    const href = link?.href ?? '';
    let url = '';
    if (tag === 'img') url = urlOf(element);
    else if (info.isBox) url = /^url\("(.*)"\)$/.exec(styleOf(info).backgroundImage)?.[1] ?? '';
    if (tag !== 'svg' && !url) continue;
    const isNear = region === 'header' || region === 'nav' || LOGO.test(names + alt + own + url.slice(-200));
    const isHome = href !== '' && new URL(href).pathname.length <= 4;
    if (!isNear && !isHome && box[1] > 200) continue;
    let svg = '';
    if (tag === 'svg') {
      const isLarge = box[2] >= 16 && box[3] >= 10;
      if (!isLarge || !(isHome || LOGO.test(names + own)) || svgs >= 8) continue;
      svgs++;
      svg = svgText(element);
      if (!svg || svg.length > 48000) continue;
    } else if (url.length > MAX_URL) continue;
    const title = tag === 'svg' ? textOf(element, 80) : '';
    logos.push({ t: tag, url: url.toWellFormed(), svg, alt: alt || own || title, r: box, g: region, n: names, href, label: link?.label ?? '',
      i: countsOf(info) });
  }

  const variables = {};
  const VARIABLE = /primary|secondary|accent|brand|success|warning|error|danger|destructive|background|-bg\b|--bg/i;
  const styled = method(Element, 'computedStyleMap')(body ?? root);
  let declared = 0;
  for (const [name, values] of styled) {
    if (!name.startsWith('--')) continue;
    if (declared++ > 2000 || Object.keys(variables).length >= 150) break;
    const value = VARIABLE.test(name) ? values.map(String).join(', ').trim() : '';
    if (value && value.length <= 80 && name.length <= 80) variables[start(name, 80)] = start(value, 80);
  }
  const themeOf = (element) => element
    ? ['class', 'data-theme', 'data-bs-theme', 'data-color-mode', 'data-color-scheme', 'data-mode', 'data-mui-color-scheme',
      'theme'].map((name) => attribute(element, name)).join(' ')
    : '';
  return {
    w: innerWidth, h: innerHeight,
    dw: getter(Element, 'scrollWidth')(root), dh: getter(Element, 'scrollHeight')(root),
    theme: `${themeOf(root)} ${themeOf(body)}`,
    cs: getComputedStyle(root).colorScheme,
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
    items, logos, vars: variables, tokens: [...tokens], cut: isCut,
    ms: Math.round(performance.now() - started),
  };
})
