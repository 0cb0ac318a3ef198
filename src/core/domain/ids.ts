/**
 * Ids are opaque text: a prefix that tells what a row is, then a time-ordered UUID without its dashes, so that
 * primary-key indexes grow at one end. Deliveries alone are plain UUIDs: a platform may take them as its own key.
 */
export type IdPrefix = "ses" | "trn" | "msg" | "call" | "qst" | "dec" | "res" | "clk";

/** The source of randomness and time for ids; the gateway passes `uuid`'s v7 and v4. */
export interface IdSource {
  /** A time-ordered UUID (version 7). */
  ordered(): string;
  /** A random UUID (version 4). */
  random(): string;
}

export const newId = (ids: IdSource, prefix: IdPrefix): string => `${prefix}_${ids.ordered().replaceAll("-", "")}`;

export const newDeliveryId = (ids: IdSource): string => ids.random();
