// What a person sees of the document, as HTML: evaluated in a world of its own, where the page's scripts have changed nothing.
//
// Shadow trees stand where they are shown, with what is slotted into them; what is not displayed or not visible is left out, and so
// are scripts, styles, templates, comments and the content of frames. Properties are read by their prototypes' own getters, since a
// form field named "childNodes" would answer in the place of the real thing.
(limit) => {
  const getter = (prototype, name) => {
    const get = Object.getOwnPropertyDescriptor(prototype, name).get;
    return (object) => get.call(object);
  };
  const firstChild = getter(Node.prototype, "firstChild");
  const nextSibling = getter(Node.prototype, "nextSibling");
  const nodeType = getter(Node.prototype, "nodeType");
  const nodeValue = getter(Node.prototype, "nodeValue");
  const localName = getter(Element.prototype, "localName");
  const namespace = getter(Element.prototype, "namespaceURI");
  const tagName = getter(Element.prototype, "tagName");
  const attributes = getter(Element.prototype, "attributes");
  const shadowRoot = getter(Element.prototype, "shadowRoot");
  const root = getter(Document.prototype, "documentElement");

  const HTML = "http://www.w3.org/1999/xhtml";
  const WITHOUT_END = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
  const LEFT_OUT = new Set("script style noscript template noembed noframes".split(" "));
  const UNSEEN = new Set("style script defs symbol metadata title desc clipPath mask pattern".split(" ")); // outside HTML
  const EMPTY = new Set("iframe frame canvas video audio object".split(" "));
  const BREAK_FIRST = new Set("pre textarea listing".split(" "));
  const LINKS = /^(canonical|alternate|icon|shortcut icon|next|prev|license|author)$/i;

  const parts = [];
  let length = 0;
  const write = (text) => {
    parts.push(text);
    length += text.length;
  };
  const inText = (text) =>
    text.replace(/[&<>\u00a0]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", "\u00a0": "&nbsp;" })[c]);
  const inValue = (text) => text.replace(/[&"\u00a0]/g, (c) => ({ "&": "&amp;", '"': "&quot;", "\u00a0": "&nbsp;" })[c]);

  const startTag = (element, name) => {
    write("<" + name);
    const list = attributes(element);
    for (let i = 0; i < list.length; i++) {
      const attribute = list.item(i);
      if (/^(on|style$|nonce$|srcdoc$|integrity$)/i.test(attribute.name)) continue;
      write(" " + attribute.name + '="' + inValue(attribute.value) + '"');
    }
    write(">");
  };

  const childrenOf = (node) => {
    const found = [];
    for (let child = firstChild(node); child; child = nextSibling(child)) found.push(child);
    return found;
  };

  const inHead = (element, name) => {
    if (name === "title") {
      write("<title>" + inText(childrenOf(element).map((n) => nodeValue(n) || "").join("")) + "</title>");
    } else if (name === "base") {
      startTag(element, name);
    } else if (name === "meta") {
      if (!element.hasAttribute("http-equiv") && !element.hasAttribute("charset")) startTag(element, name);
    } else if (name === "link" && LINKS.test(element.getAttribute("rel") || "")) {
      startTag(element, name);
    }
  };

  // A stack of its own: scripts can nest deeper than any recursion may go.
  const stack = [];
  const push = (nodes, visible, head) => {
    for (let i = nodes.length - 1; i >= 0; i--) stack.push([nodes[i], visible, head]);
  };

  const element = (node, head) => {
    const isHtml = namespace(node) === HTML;
    const name = isHtml ? localName(node) : tagName(node);
    if ((isHtml ? LEFT_OUT : UNSEEN).has(name)) return;
    if (head) return inHead(node, name);
    if (isHtml && name === "head") {
      write('<head><meta charset="utf-8">');
      stack.push("</head>");
      return push(childrenOf(node), true, true);
    }
    const style = getComputedStyle(node);
    if (style.display === "none") return;
    const visible = style.visibility === "visible";
    const shadow = shadowRoot(node);
    if (isHtml && name === "slot") {
      const assigned = HTMLSlotElement.prototype.assignedNodes.call(node);
      return push(assigned.length ? assigned : childrenOf(node), visible, false);
    }
    if (isHtml && WITHOUT_END.has(name)) {
      if (visible) startTag(node, name);
      return;
    }
    startTag(node, name);
    stack.push("</" + name + ">");
    if (isHtml && EMPTY.has(name)) return;
    const children = childrenOf(shadow || node);
    if (isHtml && BREAK_FIRST.has(name) && children.length && (nodeValue(children[0]) || "").startsWith("\n")) write("\n");
    push(children, visible, false);
  };

  write("<!DOCTYPE html>");
  const top = root(document);
  if (top) push([top], true, false);
  while (stack.length && length <= limit) {
    const next = stack.pop();
    if (typeof next === "string") {
      write(next);
      continue;
    }
    const [node, visible, head] = next;
    const type = nodeType(node);
    if (type === 1) element(node, head);
    else if ((type === 3 || type === 4) && visible && !head) write(inText(nodeValue(node)));
  }
  return length > limit ? null : parts.join("").toWellFormed();
}
