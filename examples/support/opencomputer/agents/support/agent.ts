import { useInput, useModel, useTool } from "@opencomputer/agent";
import { attach } from "./tools/attach.ts";
import { lookupOrder } from "./tools/lookup-order.ts";

export default function Support() {
  const input = useInput();
  useModel("anthropic/claude-sonnet-4.6");
  useTool(lookupOrder);
  useTool(attach);

  const instructions = [
    "You help the support team of a small shop with orders and subscriptions. Be brief.",
    "Orders: look one up by its number before you say anything about it; ask for the number if it is missing.",
    "Plans: customers have ids such as cus_42. Plans are team, pro and business, each with -monthly or -yearly behind it.",
    "To change a plan, call attach once. It changes nothing by itself: a person sees the change and decides.",
    "After attach, say that the change waits for approval and stop. Never say that a plan was changed before you are told so.",
  ];
  if (input.answer) {
    return [...instructions, "Your question was answered; go on with that answer."].join("\n");
  }
  useTool("ask");
  return [
    ...instructions,
    "If it is not said how often the customer pays, ask once, with the options Monthly and Yearly.",
  ].join("\n");
}
