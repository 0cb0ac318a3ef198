import { FORMAT_SCRIPT } from "./formatScript.ts";

/** Runs in the browser. Whatever people or agents wrote becomes text nodes, never markup. */
export const SCRIPT = String.raw`${FORMAT_SCRIPT}
const $ = (id) => document.getElementById(id);
const shown = new Map();
let state;
let current = "C0GENERAL1";

// ------------------------------------------------------------------------------------------------------- talking

async function send(path, body) {
  $("problem").textContent = "";
  const response = await fetch("/simulator/" + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ person: $("person").value, ...body }),
  });
  if (response.ok) return true;
  $("problem").textContent = (await response.json()).error.message;
  return false;
}

async function follow() {
  for (;;) {
    try {
      const response = await fetch("/simulator/state" + (state ? "?after=" + state.revision : ""));
      state = await response.json();
      $("connection").textContent = "live";
      render();
    } catch {
      $("connection").textContent = "the simulator does not answer; trying again";
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

// -------------------------------------------------------------------------------------------------------- drawing

function render() {
  renderPeople();
  renderChannels();
  renderThreads();
  renderModal();
}

function renderPeople() {
  const select = $("person");
  if (select.options.length === state.people.length) return;
  const chosen = select.value;
  select.replaceChildren(...state.people.map(({ id, name }) => make("option", { value: id }, name)));
  if (chosen) select.value = chosen;
}

const visible = () => state.channels.filter(({ user }) => user === undefined || user === $("person").value);

function renderChannels() {
  const channels = visible();
  if (!channels.some(({ id }) => id === current)) current = channels[0].id;
  $("channels").replaceChildren(
    ...channels.map(({ id, name, type }) => {
      const button = make("button", {}, type === "im" ? "Direct message" : "# " + name);
      if (id === current) button.setAttribute("aria-current", "page");
      button.addEventListener("click", () => {
        current = id;
        render();
      });
      return button;
    }),
  );
  const direct = channels.find(({ id }) => id === current).type === "im";
  const bot = "@" + state.team.botName;
  $("compose").elements.text.placeholder = direct ? "Write to " + bot : bot + " what can you do?";
  $("hint").textContent = direct
    ? "A direct message goes to the agent as it is."
    : "Begin with " + bot + " to call the agent. Answer in its thread to go on.";
}

function renderThreads() {
  const list = $("threads");
  const threads = state.threads.filter(({ channel }) => channel === current);
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const keys = new Set(threads.map(({ ts }) => ts));
  for (const [key, entry] of shown) {
    if (entry.channel === current && keys.has(key)) continue;
    entry.element.remove();
    shown.delete(key);
  }
  list.querySelector(".empty")?.remove();
  if (threads.length === 0) list.append(make("p", { className: "empty" }, "Nothing was said here yet."));
  for (const thread of threads) renderThread(list, thread);
  if (atEnd) list.scrollTop = list.scrollHeight;
}

// The reply box stays where it is while the messages above it change, so that nobody loses what they type.
function renderThread(list, thread) {
  let entry = shown.get(thread.ts);
  if (!entry) {
    const body = make("div");
    const form = replyForm(thread);
    entry = { channel: thread.channel, body, element: make("article", { className: "thread" }, body, form), drawn: "" };
    shown.set(thread.ts, entry);
    list.append(entry.element);
  }
  const whispers = state.ephemerals.filter(
    ({ channel, user, threadTs, ts }) =>
      channel === thread.channel && user === $("person").value && (threadTs ?? ts) === thread.ts,
  );
  const drawn = JSON.stringify([thread, whispers]);
  if (entry.drawn === drawn) return;
  entry.drawn = drawn;
  entry.body.replaceChildren(
    ...thread.messages.map(renderMessage),
    ...whispers.map(renderWhisper),
    ...(thread.status ? [make("p", { className: "status" }, state.team.botName + " " + thread.status)] : []),
  );
}

function replyForm({ channel, ts }) {
  const input = make("input", { name: "text", placeholder: "Reply in thread", required: true, autocomplete: "off" });
  const form = make("form", {}, input, make("button", {}, "Reply"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = input.value;
    input.value = "";
    if (!(await send("reply", { channel, ts, text }))) input.value = text;
  });
  return form;
}

function renderMessage(message) {
  const time = new Date(Number(message.ts.split(".")[0]) * 1000).toLocaleTimeString();
  return make(
    "section",
    { className: "message" },
    make("h2", {}, message.name),
    ...(message.bot ? [" ", make("span", { className: "tag" }, "APP")] : []),
    make("span", { className: "meta" }, "  " + time + (message.edited ? " (edited)" : "")),
    ...renderBody(message, (button) => click(message, button)),
  );
}

const renderWhisper = (whisper) =>
  make(
    "section",
    { className: "message private" },
    make("span", { className: "meta" }, "Only visible to you"),
    ...renderBody(whisper),
  );

function renderBody({ text, blocks }, onClick) {
  const drawn = blocks.filter(({ type }) => type !== "rich_text");
  if (drawn.length === 0) return [make("div", { className: "block" }, ...formatted(text, state))];
  return drawn.map((block) => renderBlock(block, state, onClick));
}

function click({ channel, ts }, { element, block }) {
  const question = element.confirm;
  if (question && !confirm((question.title ? question.title.text + "\n\n" : "") + question.text.text)) return;
  send("click", { channel, ts, actionId: element.action_id, blockId: block.block_id });
}

function renderModal() {
  const dialog = $("modal");
  const open = state.views.find(({ user }) => user === $("person").value);
  if (!open) {
    delete dialog.dataset.view;
    return dialog.close();
  }
  // Drawn once: what is being typed stays, and one that was put away with Escape does not come back.
  if (dialog.dataset.view === open.id) return;
  dialog.dataset.view = open.id;
  const { title, blocks, submit } = open.view;
  const inputs = [];
  const body = blocks.map((block) => {
    if (block.type !== "input") return renderBlock(block, state);
    const field = make(block.element.multiline ? "textarea" : "input", { required: !block.optional });
    inputs.push({ block, field });
    return make("label", {}, block.label.text, field);
  });
  const form = make("form", {}, make("h2", {}, title.text), ...body, make("button", {}, submit ? submit.text : "Close"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const values = {};
    for (const { block, field } of inputs) values[block.block_id] = { [block.element.action_id]: field.value };
    if (submit) send("submit", { view: open.id, values });
    else dialog.close();
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

// -------------------------------------------------------------------------------------------------------- starting

$("compose").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.text;
  const text = field.value;
  field.value = "";
  const direct = state.channels.find(({ id }) => id === current).type === "im";
  const sent = direct ? send("dm", { text }) : send("say", { channel: current, text });
  if (!(await sent)) field.value = text;
});
$("compose").elements.text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("compose").requestSubmit();
});
$("person").addEventListener("change", render);
follow();
`;
