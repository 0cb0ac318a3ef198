/** Reading JSON of unknown shape without a cast: what is not there is empty. */
export type Fields = Record<string, unknown>;

export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

export const list = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fields) : []);

export const text = (value: unknown): string => (typeof value === "string" ? value : "");
