/** What one look found. `says` is one sentence; of a warning or a problem, with what to do about it. */
export interface Finding {
  readonly level: "ok" | "warning" | "problem";
  /** `database`, `queue`, … */
  readonly about: string;
  readonly says: string;
}

/** Findings about one thing. */
export const findingsAbout = (about: string) => ({
  ok: (says: string): Finding => ({ level: "ok", about, says }),
  warning: (says: string): Finding => ({ level: "warning", about, says }),
  problem: (says: string): Finding => ({ level: "problem", about, says }),
});
