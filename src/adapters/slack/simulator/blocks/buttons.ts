import type { Json } from "../../../../core/domain/json.ts";
import { isObject, type JsonObject } from "../message.ts";

/** A button as it stands in a message; all that a click sends of it. */
export interface ButtonInMessage {
  readonly blockId: string;
  readonly actionId: string;
  readonly text: string;
  readonly value?: string;
}

export type ButtonQuery = { readonly buttonText: string } | { readonly actionId: string; readonly blockId?: string };

/** Slack names what the app left unnamed; ids must be there before a click can carry them. */
export function withIds(blocks: readonly JsonObject[], newId: () => string): JsonObject[] {
  const named = (element: Json): Json =>
    isObject(element) && element["action_id"] === undefined && typeof element["type"] === "string"
      ? { ...element, action_id: newId() }
      : element;
  return blocks.map((block) => ({
    ...block,
    block_id: block["block_id"] ?? newId(),
    ...(block["type"] === "actions" && Array.isArray(block["elements"]) && { elements: block["elements"].map(named) }),
    ...(block["accessory"] !== undefined && { accessory: named(block["accessory"]) }),
    ...(block["type"] === "card" && Array.isArray(block["actions"]) && { actions: block["actions"].map(named) }),
  }));
}

/** Every button of these blocks, from top to bottom. */
export function buttonsOf(blocks: readonly JsonObject[]): ButtonInMessage[] {
  return blocks.flatMap((block) =>
    [block["accessory"], ...items(block["elements"]), ...items(block["actions"])].flatMap((element) => {
      if (!isObject(element) || element["type"] !== "button" || !isObject(element["text"])) return [];
      const value = element["value"];
      return {
        blockId: String(block["block_id"]),
        actionId: String(element["action_id"]),
        text: String(element["text"]["text"]),
        ...(typeof value === "string" && { value }),
      };
    }),
  );
}

export const matches = (button: ButtonInMessage, query: ButtonQuery): boolean =>
  "buttonText" in query
    ? button.text === query.buttonText
    : button.actionId === query.actionId && (query.blockId === undefined || button.blockId === query.blockId);

const items = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
