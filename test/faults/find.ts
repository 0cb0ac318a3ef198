import type { History } from "./history.ts";

/** What is wrong in a history, a line each; ids and counts, no message text. */
export type Find = (history: History) => string[];

/** One line where `wrong`, none otherwise. */
export const when = (wrong: boolean, detail: string): string[] => (wrong ? [detail] : []);
