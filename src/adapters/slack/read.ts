/** Readers for what strangers send: they narrow, and answer undefined or empty where something else stands. */

export const asRecord = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;

export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function textOf(record: Record<string, unknown> | undefined, key: string): string | undefined {
  const value = record?.[key];
  return typeof value === "string" ? value : undefined;
}

/** A Slack id: letters and digits. Anything else under an id's name is treated as absent. */
export function idOf(record: Record<string, unknown> | undefined, key: string): string | undefined {
  const value = textOf(record, key);
  return value !== undefined && /^[A-Za-z0-9]{1,64}$/.test(value) ? value : undefined;
}

/** A message's `ts`. Kept as text: as a number it loses digits, and becomes another message's. */
export function tsOf(record: Record<string, unknown> | undefined, key: string): string | undefined {
  const value = textOf(record, key);
  return value !== undefined && /^\d{1,16}\.\d{1,16}$/.test(value) ? value : undefined;
}
