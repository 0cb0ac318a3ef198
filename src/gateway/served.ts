import type { Deployment } from "../core/domain/manifest.ts";

/** What one start serves. */
export interface Served {
  /** Kept and made the active one; null: what is active stays. */
  readonly deployment: Deployment | null;
  /** The project's sources, with `.env` files that hold secrets: agents never see them. */
  readonly folder: string | null;
  /** Values of its `.env.local`: secrets that were not set, in development, and runtime variables. */
  readonly values: Readonly<Record<string, string>>;
  /** What was started for it, to be closed with the gateway; `part` says what runs where. */
  readonly companion?: { readonly part: string; close(): Promise<void> };
}
