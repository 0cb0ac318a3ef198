import { createPrivateKey, createPublicKey, hkdfSync, sign, verify } from "node:crypto";
import type { SignedHead } from "./entry.ts";

/** Signs heads of the decision record. */
export interface HeadKey {
  /** `ed25519:` and the 32 bytes of the public key in base64url: what whoever verifies needs. */
  readonly publicKey: string;
  sign(head: Omit<SignedHead, "key" | "signature">): SignedHead;
}

const PREFIX = "ed25519:";
/** To the letter: a decoder of base64 skips what it does not know. */
const PUBLIC_KEY = /^ed25519:[\w-]{43}$/;
/** What DER puts before the 32 bytes of an Ed25519 key (RFC 8410): node:crypto takes no bare ones. */
const PRIVATE_DER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_DER = Buffer.from("302a300506032b6570032100", "hex");

/** Derived from the master key (32 bytes in base64), so that an installation has one key to keep. */
export function createHeadKey(masterKey: string): HeadKey {
  const seed = Buffer.from(
    hkdfSync("sha256", Buffer.from(masterKey, "base64"), "", "countersign decision record v1", 32),
  );
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: "der", type: "pkcs8" });
  const der = createPublicKey(key).export({ format: "der", type: "spki" });
  const publicKey = PREFIX + der.subarray(PUBLIC_DER.length).toString("base64url");
  return {
    publicKey,
    sign: (head) => ({ ...head, key: publicKey, signature: sign(null, signedText(head), key).toString("base64url") }),
  };
}

/** Whether this is a key as `publicKey` gives them. */
export const isPublicKey = (text: string): boolean => PUBLIC_KEY.test(text);

/** Whether the key that the head names signed it. */
export function isTrulySigned(head: SignedHead): boolean {
  if (!isPublicKey(head.key)) return false;
  const raw = Buffer.from(head.key.slice(PREFIX.length), "base64url");
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_DER, raw]), format: "der", type: "spki" });
  return verify(null, signedText(head), key, Buffer.from(head.signature, "base64url"));
}

const signedText = ({ seq, hash, signedAt }: Omit<SignedHead, "key" | "signature">): Buffer =>
  Buffer.from(`countersign decision record\n${seq}\n${hash}\n${signedAt}`);
