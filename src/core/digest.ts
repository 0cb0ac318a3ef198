import { createHash } from "node:crypto";

/** SHA-256 of the UTF-8 bytes of `text`, 64 hex digits. */
export const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");
