/** The half of the page's script that turns Slack's text and blocks into elements. */
export const FORMAT_SCRIPT = String.raw`
const TICK = "\x60";
const PATTERNS = [
  ["pre", new RegExp(TICK.repeat(3) + "\\w*\\n?([\\s\\S]*?)" + TICK.repeat(3))],
  ["code", new RegExp(TICK + "([^" + TICK + "\\n]+)" + TICK)],
  ["token", /<([^<>\n]+)>/],
  ["strong", /\*\*([^*\n]+)\*\*|(?<![\w*])\*([^*\s](?:[^*\n]*[^*\s])?)\*(?![\w*])/],
  ["em", /(?<![\w_])_([^_\n]+)_(?![\w_])/],
  ["del", /(?<![\w~])~([^~\n]+)~(?![\w~])/],
];

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const unescaped = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

// mrkdwn to nodes: the leftmost mark wins, and what it holds is formatted again unless it is code.
function formatted(text, state) {
  let first;
  for (const [tag, pattern] of PATTERNS) {
    const match = pattern.exec(text);
    if (match && (!first || match.index < first.match.index)) first = { tag, match };
  }
  if (!first) return text ? [unescaped(text)] : [];
  const { tag, match } = first;
  const inner = match[1] ?? match[2];
  const node =
    tag === "token" ? token(inner, state)
    : tag === "pre" || tag === "code" ? make(tag, {}, unescaped(inner))
    : make(tag, {}, ...formatted(inner, state));
  const rest = text.slice(match.index + match[0].length);
  return [...formatted(text.slice(0, match.index), state), node, ...formatted(rest, state)];
}

function token(inner, state) {
  const [target, label] = inner.split("|");
  if (target.startsWith("@")) {
    const people = [...state.people, { id: state.team.botUserId, name: state.team.botName }];
    const person = people.find(({ id }) => id === target.slice(1));
    return make("span", { className: "mention" }, "@" + (person ? person.name : target.slice(1)));
  }
  if (target.startsWith("!date")) return document.createTextNode(unescaped(label ?? target));
  if (target.startsWith("!")) return make("span", { className: "mention" }, "@" + target.slice(1));
  if (target.startsWith("#")) {
    const channel = state.channels.find(({ id }) => id === target.slice(1));
    return make("span", { className: "mention" }, "#" + (channel ? channel.name : target.slice(1)));
  }
  if (!/^https?:\/\//.test(target)) return document.createTextNode(unescaped(label ?? target));
  return make("a", { href: unescaped(target), rel: "noreferrer noopener", target: "_blank" }, unescaped(label ?? target));
}

const textObject = ({ type, text }, state) => (type === "mrkdwn" ? formatted(text, state) : [text]);

function buttons(elements, block, onClick) {
  return make(
    "div",
    { className: "buttons" },
    ...elements.map((element) => {
      if (element.type !== "button") return make("span", { className: "tag" }, element.type);
      const button = make("button", { className: element.style ?? "", disabled: !onClick }, element.text.text);
      button.addEventListener("click", () => onClick({ element, block }));
      return button;
    }),
  );
}

function renderBlock(block, state, onClick) {
  const { type } = block;
  if (type === "divider") return make("hr");
  const box = make("div", { className: type === "context" ? "block context" : "block" });
  if (type === "header") box.append(make("h3", {}, block.text.text));
  else if (type === "markdown") box.append(...formatted(block.text, state));
  else if (type === "alert") box.append(...textObject(block.text, state));
  else if (type === "image") box.append(make("span", { className: "tag" }, "image"), " " + block.alt_text);
  else if (type === "actions") box.append(buttons(block.elements, block, onClick));
  else if (type === "context") {
    for (const item of block.elements) {
      box.append(make("span", {}, ...(item.type === "image" ? [item.alt_text] : textObject(item, state)), "  "));
    }
  } else if (type === "section") {
    if (block.text) box.append(make("div", {}, ...textObject(block.text, state)));
    if (block.fields) {
      const fields = block.fields.map((field) => make("div", {}, ...textObject(field, state)));
      box.append(make("div", { className: "fields" }, ...fields));
    }
    if (block.accessory) box.append(buttons([block.accessory], block, onClick));
  } else if (type === "card") {
    for (const part of ["title", "subtitle", "body"]) {
      if (block[part]) box.append(make(part === "title" ? "h3" : "div", {}, ...textObject(block[part], state)));
    }
    if (block.actions) box.append(buttons(block.actions, block, onClick));
  } else box.append(make("span", { className: "tag" }, type));
  return box;
}
`;
