import { isObject, type JsonObject } from "../message.ts";
import { checkElement, checkImage } from "./elements.ts";
import { LIMITS } from "./limits.ts";
import { checkItems, checkString, checkText, createProblems, createUniqueIds, type Problems } from "./problems.ts";

/** Accepted as they are; Slack knows them, this project sends none of them. */
const UNCHECKED = new Set([
  "rich_text",
  "table",
  "data_table",
  "task_card",
  "plan",
  "video",
  "file",
  "carousel",
  "container",
]);

type CheckItem = (item: JsonObject, at: string) => void;

/** What each type of block must hold; `element` checks an interactive element of it. */
type CheckBlock = (problems: Problems, at: string, block: JsonObject, element: CheckItem) => void;

const CHECKS: ReadonlyMap<unknown, CheckBlock> = new Map<string, CheckBlock>([
  ["section", checkSection],
  ["context", checkContext],
  ["card", checkCard],
  ["input", checkInput],
  ["divider", () => undefined],
  ["image", checkImage],
  ["header", (problems, at, { text }) => checkText(problems, `${at}/text`, text, { max: LIMITS.header, plain: true })],
  ["alert", (problems, at, { text }) => checkText(problems, `${at}/text`, text, { max: LIMITS.text })],
  ["markdown", (problems, at, { text }) => checkString(problems, `${at}/text`, text, LIMITS.markdown)],
  [
    "actions",
    (problems, at, { elements }, element) =>
      checkItems(problems, `${at}/elements`, elements, LIMITS.actionsElements, element),
  ],
  [
    "context_actions",
    (problems, at, { elements }, element) =>
      checkItems(problems, `${at}/elements`, elements, LIMITS.contextActionsElements, element),
  ],
]);

/** What Slack would find wrong with these blocks; empty when nothing. */
export function findProblems(blocks: readonly unknown[], surface: "message" | "view"): readonly string[] {
  const problems = createProblems();
  const root = surface === "message" ? "/blocks" : "/view/blocks";
  const max = surface === "message" ? LIMITS.messageBlocks : LIMITS.viewBlocks;
  if (blocks.length > max) problems.add(root, `no more than ${max} items allowed`);
  const blockIds = createUniqueIds(problems, "block_id");
  let markdown = 0;
  for (const [i, block] of blocks.entries()) {
    const at = `${root}/${i}`;
    if (!isObject(block)) {
      problems.add(at, "must be an object");
      continue;
    }
    blockIds(at, block["block_id"]);
    checkBlock(problems, at, block);
    if (block["type"] === "markdown" && typeof block["text"] === "string") markdown += block["text"].length;
  }
  if (markdown > LIMITS.markdown) {
    problems.add(root, `markdown blocks must have less than ${LIMITS.markdown + 1} characters together`);
  }
  return problems.list();
}

function checkBlock(problems: Problems, at: string, block: JsonObject): void {
  const type = block["type"];
  const actionIds = createUniqueIds(problems, "action_id");
  const check = CHECKS.get(type);
  if (check) check(problems, at, block, (item, place) => checkElement(problems, place, item, actionIds));
  else if (typeof type !== "string" || !UNCHECKED.has(type)) {
    problems.add(at, `unsupported type: ${JSON.stringify(type ?? null)}`);
  }
}

function checkSection(problems: Problems, at: string, block: JsonObject, element: CheckItem): void {
  if (block["text"] === undefined && block["fields"] === undefined) problems.add(at, "must have text or fields");
  if (block["text"] !== undefined) checkText(problems, `${at}/text`, block["text"], { max: LIMITS.text });
  if (block["fields"] !== undefined) {
    checkItems(problems, `${at}/fields`, block["fields"], LIMITS.fields, (field, place) =>
      checkText(problems, place, field, { max: LIMITS.field }),
    );
  }
  const accessory = block["accessory"];
  if (accessory === undefined) return;
  if (!isObject(accessory)) problems.add(`${at}/accessory`, "must be an object");
  else if (accessory["type"] === "image") checkImage(problems, `${at}/accessory`, accessory);
  else element(accessory, `${at}/accessory`);
}

function checkCard(problems: Problems, at: string, block: JsonObject, element: CheckItem): void {
  const parts = { title: LIMITS.cardTitle, subtitle: LIMITS.cardTitle, body: LIMITS.cardBody };
  for (const [part, max] of Object.entries(parts)) {
    if (block[part] !== undefined) checkText(problems, `${at}/${part}`, block[part], { max });
  }
  if (!["hero_image", "title", "actions", "body"].some((part) => block[part] !== undefined)) {
    problems.add(at, "must have one of hero_image, title, actions, body");
  }
  if (block["actions"] !== undefined) {
    checkItems(problems, `${at}/actions`, block["actions"], LIMITS.actionsElements, element);
  }
}

function checkContext(problems: Problems, at: string, block: JsonObject): void {
  checkItems(problems, `${at}/elements`, block["elements"], LIMITS.contextElements, (item, place) => {
    if (item["type"] === "image") checkImage(problems, place, item);
    else checkText(problems, place, item, { max: LIMITS.text });
  });
}

function checkInput(problems: Problems, at: string, block: JsonObject, element: CheckItem): void {
  checkText(problems, `${at}/label`, block["label"], { max: LIMITS.inputLabel, plain: true });
  if (isObject(block["element"])) element(block["element"], `${at}/element`);
  else problems.add(`${at}/element`, "must be an object");
}
