import type { HistoryCall, HistoryMessage, HistoryResult } from "../domain/history.ts";
import type { Json } from "../domain/json.ts";
import type { Option } from "../domain/message.ts";
import { KEY_VARIABLES, PROVIDERS } from "./providers.ts";

/** What the demo model sees of a request: it reacts to nothing else. */
interface DemoView {
  readonly history: readonly HistoryMessage[];
  readonly offered: readonly string[];
}

type DemoAnswer =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly tool: "ask"; readonly input: { readonly text: string; readonly options: Json } }
  | { readonly kind: "call"; readonly tool: "lookup_order" | "attach"; readonly input: Json };

/**
 * The rules of the demo, in order; the first that has an answer speaks. They drive `examples/support`, and with any
 * other agent fall through to the introduction.
 */
export function demoAnswer(view: DemoView): DemoAnswer {
  const last = view.history.at(-1);
  if (last?.role === "tool") return afterTools(last.results);
  const heard = last?.role === "user" ? last.text : "";
  return (
    reportOutcome(view, heard) ??
    takeAnswer(view, heard) ??
    lookUpOrder(view, heard) ??
    changePlan(view, heard) ??
    introduce(view.offered)
  );
}

const say = (text: string): DemoAnswer => ({ kind: "say", text });

function afterTools(results: readonly HistoryResult[]): DemoAnswer {
  return say(results.map(inWords).join(" "));
}

function inWords({ tool, failed, output }: HistoryResult): string {
  if (failed) return `The call of ${tool} failed: ${plainly(output)}`;
  switch (tool) {
    case "attach":
      return "The plan change is recorded and waits for approval on its card; nothing is written before somebody approves it.";
    case "lookup_order":
      return `Here is what lookup_order says: ${plainly(output)}.`;
    default:
      return `${tool} answered: ${plainly(output)}`;
  }
}

/** `status: shipped, items: 2`; text as it is. */
function plainly(value: Json): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, nested]) => `${key}: ${typeof nested === "object" ? JSON.stringify(nested) : nested}`)
    .join(", ");
}

/**
 * A system input tells what became of an earlier proposal (A9). Its payload names the outcome; the sentence alone may
 * too, and then a person's question about it, which ends in `?`, is none.
 */
function reportOutcome({ history }: DemoView, heard: string): DemoAnswer | null {
  const named = /"outcome":"(\w+)"/.exec(heard) ?? /\b(rejected|expired|unconfirmed|failed|applied)\b/i.exec(heard);
  const outcome = named?.[1]?.toLowerCase();
  if (!outcome || heard.trim().endsWith("?") || !lastCall(history, "attach")) return null;
  switch (outcome) {
    case "applied":
      return say("Done: the plan change was approved and applied.");
    case "rejected":
      return say("The plan change was rejected, so nothing was changed.");
    case "expired":
      return say("Nobody decided in time, so nothing was changed; ask again to propose it anew.");
    case "failed":
      return say("The plan change failed, and nothing was written.");
    default:
      return say(
        "The plan change never reported back; somebody should look at the billing system before it is run again.",
      );
  }
}

/** The reply to the question this script asked: an option's value, or its label as a word. */
function takeAnswer(view: DemoView, heard: string): DemoAnswer | null {
  const asked = lastCall(view.history, "ask");
  if (!asked || !view.offered.includes("attach") || usersSince(view.history, asked) !== 1) return null;
  const chosen =
    optionsOf(asked).find(({ value }) => includesWord(heard, value)) ??
    optionsOf(asked).find(({ label }) => includesWord(heard, label));
  return chosen ? proposeChange(view, chosen.value) : null;
}

function lookUpOrder({ offered }: DemoView, heard: string): DemoAnswer | null {
  const order = /\b(ord_\w+)/i.exec(heard)?.[1] ?? /\border\s+(?:number\s+)?#?(\w*\d\w*)/i.exec(heard)?.[1];
  if (!order || !offered.includes("lookup_order")) return null;
  return { kind: "call", tool: "lookup_order", input: { orderId: order } };
}

function changePlan(view: DemoView, heard: string): DemoAnswer | null {
  if (!/\b(plan|move|upgrade|downgrade|switch)\b/i.test(heard) || !view.offered.includes("attach")) return null;
  const plan = /\b(free|starter|pro|team|business|enterprise)\b/i.exec(heard)?.[1]?.toLowerCase() ?? "team";
  if (!view.offered.includes("ask")) return proposeChange(view, `${plan}-monthly`);
  // The wording avoids the options' own words: the answer is recognised by them.
  const text = `How often should ${customerIn(view.history)} be billed for the ${plan} plan?`;
  const options = [
    { label: "Monthly", value: `${plan}-monthly` },
    { label: "Yearly", value: `${plan}-yearly` },
  ];
  return { kind: "call", tool: "ask", input: { text, options } };
}

const proposeChange = ({ history }: DemoView, planId: string): DemoAnswer => ({
  kind: "call",
  tool: "attach",
  input: { customerId: customerIn(history), planId },
});

function introduce(offered: readonly string[]): DemoAnswer {
  const tools = offered.length > 0 ? `This agent offers ${offered.join(", ")}.` : "This agent offers no tools.";
  const tries = [
    ...(offered.includes("attach") ? ['"Move customer cus_42 to the team plan"'] : []),
    ...(offered.includes("lookup_order") ? ['"Where is order 1042?"'] : []),
  ];
  return say(
    [
      "I am a scripted demo model: I follow a few fixed rules and understand nothing.",
      `Set ${PROVIDERS.map((provider) => KEY_VARIABLES[provider]).join(", or ")} for a real one.`,
      tools,
      ...(tries.length > 0 ? [`Try ${tries.join(" or ")}.`] : []),
    ].join(" "),
  );
}

/** The customer named last by anybody; the example's first one when nobody named any. */
function customerIn(history: readonly HistoryMessage[]): string {
  for (const message of history.toReversed()) {
    const named = message.role === "user" ? /\bcus_\w+/.exec(message.text)?.[0] : undefined;
    if (named) return named;
  }
  return "cus_42";
}

function lastCall(history: readonly HistoryMessage[], tool: string): HistoryCall | null {
  for (const message of history.toReversed()) {
    const call = message.role === "assistant" ? message.calls.findLast((made) => made.tool === tool) : undefined;
    if (call) return call;
  }
  return null;
}

function usersSince(history: readonly HistoryMessage[], call: HistoryCall): number {
  const at = history.findLastIndex((message) => message.role === "assistant" && message.calls.includes(call));
  return history.slice(at).filter((message) => message.role === "user").length;
}

function optionsOf({ input }: HistoryCall): readonly Option[] {
  const options = typeof input === "object" && input !== null && "options" in input ? input.options : null;
  return Array.isArray(options) ? options.filter(isOption) : [];
}

const isOption = (option: unknown): option is Option =>
  typeof option === "object" &&
  option !== null &&
  "label" in option &&
  "value" in option &&
  typeof option.label === "string" &&
  typeof option.value === "string";

/** Whole words only: `Yearly` is not in `yearlyish`. */
function includesWord(text: string, word: string): boolean {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, "i").test(text);
}
