interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly words?: string;
}

const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, words: "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec" },
  { name: "day of week", min: 0, max: 7, words: "sun|mon|tue|wed|thu|fri|sat" },
];

/** Why text is not a five-field cron expression, or null. */
export function cronProblem(cron: unknown): string | null {
  const parts = typeof cron === "string" ? cron.trim().split(/\s+/) : [];
  if (parts.length !== FIELDS.length) return "cron needs five fields: minute, hour, day of month, month, day of week";
  for (const [index, field] of FIELDS.entries()) {
    const part = parts[index] ?? "";
    if (!part.split(",").every((item) => fits(item, field)))
      return `cron's ${field.name} ${JSON.stringify(part)} is not valid`;
  }
  return null;
}

function fits(item: string, { min, max, words = "(?!)" }: Field): boolean {
  const match = new RegExp(`^(?:\\*|(\\d+|${words})(?:-(\\d+|${words}))?)(?:/(\\d+))?$`, "i").exec(item);
  if (!match) return false;
  const [, from, to, step] = match;
  const inside = (value: string | undefined) =>
    value === undefined || !/^\d/.test(value) || (+value >= min && +value <= max);
  const ordered = !from || !to || !/^\d/.test(from) || !/^\d/.test(to) || +from <= +to;
  return inside(from) && inside(to) && ordered && (step === undefined || +step > 0);
}
