import { isObject, type JsonObject } from "../message.ts";
import { LIMITS } from "./limits.ts";
import { checkItems, checkOptionalString, checkString, checkText, type Problems } from "./problems.ts";

const CHOICES = new Set(["static_select", "multi_static_select", "radio_buttons", "checkboxes", "overflow"]);

/** Taken as they are: nothing of theirs is shown or clicked in the simulator. */
const OTHERS = new Set([
  "users_select",
  "conversations_select",
  "channels_select",
  "external_select",
  "multi_users_select",
  "multi_conversations_select",
  "multi_channels_select",
  "multi_external_select",
  "datepicker",
  "timepicker",
  "datetimepicker",
  "plain_text_input",
  "rich_text_input",
  "email_text_input",
  "url_text_input",
  "number_input",
  "file_input",
  "workflow_button",
  "feedback_buttons",
  "icon_button",
]);

const PLAIN_TEXT_OPTIONS = new Set(["static_select", "multi_static_select", "overflow"]);

export type ActionIds = (at: string, id: unknown) => void;

/** An interactive element; `ids` sees its `action_id`. */
export function checkElement(problems: Problems, at: string, element: JsonObject, ids: ActionIds): void {
  const type = element["type"];
  ids(at, element["action_id"]);
  if (type === "button") checkButton(problems, at, element);
  else if (typeof type === "string" && CHOICES.has(type)) checkChoices(problems, at, element, type);
  else if (typeof type !== "string" || !OTHERS.has(type)) {
    problems.add(at, `unsupported type: ${JSON.stringify(type ?? null)}`);
  }
}

export function checkImage(problems: Problems, at: string, image: JsonObject): void {
  checkString(problems, `${at}/alt_text`, image["alt_text"], LIMITS.altText);
  if (image["slack_file"] === undefined) checkString(problems, `${at}/image_url`, image["image_url"], LIMITS.url);
}

function checkButton(problems: Problems, at: string, button: JsonObject): void {
  checkText(problems, `${at}/text`, button["text"], { max: LIMITS.buttonText, plain: true });
  if (button["value"] !== undefined) checkString(problems, `${at}/value`, button["value"], LIMITS.buttonValue, 0);
  checkOptionalString(problems, `${at}/url`, button["url"], LIMITS.url);
  checkOptionalString(problems, `${at}/accessibility_label`, button["accessibility_label"], LIMITS.accessibilityLabel);
  const style = button["style"];
  if (style !== undefined && style !== "primary" && style !== "danger") {
    problems.add(`${at}/style`, "must be primary or danger");
  }
  if (button["confirm"] !== undefined) checkConfirm(problems, `${at}/confirm`, button["confirm"]);
}

function checkConfirm(problems: Problems, at: string, confirm: unknown): void {
  if (!isObject(confirm)) {
    problems.add(at, "must be an object");
    return;
  }
  if (confirm["title"] !== undefined) {
    checkText(problems, `${at}/title`, confirm["title"], { max: LIMITS.confirmTitle, plain: true });
  }
  checkText(problems, `${at}/text`, confirm["text"], { max: LIMITS.confirmText });
  for (const button of ["confirm", "deny"]) {
    if (confirm[button] !== undefined) {
      checkText(problems, `${at}/${button}`, confirm[button], { max: LIMITS.confirmButton, plain: true });
    }
  }
}

function checkChoices(problems: Problems, at: string, element: JsonObject, type: string): void {
  if (element["option_groups"] !== undefined) return;
  const plain = PLAIN_TEXT_OPTIONS.has(type);
  checkItems(problems, `${at}/options`, element["options"], LIMITS.options, (option, place) => {
    checkText(problems, `${place}/text`, option["text"], { max: LIMITS.optionText, plain });
    checkOptionalString(problems, `${place}/value`, option["value"], LIMITS.optionValue);
    if (option["description"] !== undefined) {
      checkText(problems, `${place}/description`, option["description"], { max: LIMITS.optionText });
    }
  });
}
