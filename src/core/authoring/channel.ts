import type { DataValue } from "./data.ts";
import { mark } from "./mark.ts";

/**
 * A declaration of the hosted platform. Here the operator connects chat, so it is accepted, checked for its outer
 * shape and otherwise without effect: a project that has one runs unchanged.
 */
export interface ChannelDefinition {
  readonly kind: "channel";
  readonly declaration: Readonly<Record<string, DataValue>>;
}

export function defineChannel(declaration: Readonly<Record<string, DataValue>>): ChannelDefinition {
  if (typeof declaration !== "object" || declaration === null || Array.isArray(declaration)) {
    throw new TypeError("defineChannel takes an object.");
  }
  return mark("channel", { kind: "channel" as const, declaration: Object.freeze({ ...declaration }) });
}

export function registerChannel(
  channel: ChannelDefinition,
  options: Readonly<Record<string, DataValue>> = {},
): { readonly channel: ChannelDefinition; readonly options: Readonly<Record<string, DataValue>> } {
  if (channel?.kind !== "channel") throw new TypeError("registerChannel takes what defineChannel returns.");
  return Object.freeze({ channel, options: Object.freeze({ ...options }) });
}
