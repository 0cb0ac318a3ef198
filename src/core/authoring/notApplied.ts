import { markOnly } from "./mark.ts";

/**
 * Thrown by `apply` to vouch that nothing was written: the decision becomes `failed`, which a person can propose
 * again, instead of `unconfirmed`. Throw it only when you know.
 */
export class NotApplied extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "NotApplied";
    markOnly("not-applied", this);
  }
}
