import { createHash } from "node:crypto";

/** SHA-256 of the bytes, or of text in UTF-8; 64 hex digits. */
export const digest = (of: string | Uint8Array): string => createHash("sha256").update(of).digest("hex");
