// Returns {url, html, chars}: the document as HTML, with its open shadow roots inlined, cut after `limit` characters.
// `chars` is the length before the cut.
((limit) => {
  const declaration = (type) => {
    if (!type) return '';
    const ids = type.publicId
      ? ` PUBLIC "${type.publicId}"` + (type.systemId ? ` "${type.systemId}"` : '')
      : type.systemId ? ` SYSTEM "${type.systemId}"` : '';
    return `<!DOCTYPE ${type.name}${ids}>`;
  };
  const hasShadow = () => {
    const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
    while (walker.nextNode()) if (walker.currentNode.shadowRoot) return true;
    return false;
  };
  // A separate document: elements in it run no code of the page and load nothing.
  const inert = document.implementation.createHTMLDocument('');
  const copy = (node) => {
    if (node.localName === 'template') return inert.importNode(node, true);
    const twin = inert.importNode(node, false);
    let children = (node.shadowRoot ?? node).childNodes;
    if (node.localName === 'slot' && node.getRootNode() instanceof ShadowRoot) {
      const assigned = node.assignedNodes();
      if (assigned.length) children = assigned;
    }
    for (const child of children) twin.append(copy(child));
    return twin;
  };
  const root = document.documentElement;
  const body = root ? (hasShadow() ? copy(root).outerHTML : root.outerHTML) : '';
  const html = declaration(document.doctype) + body;
  return { url: location.href, html: html.slice(0, limit), chars: html.length };
})
