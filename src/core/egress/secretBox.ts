import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { CountersignError } from "../domain/errors.ts";

/** The keys that open secrets; the first seals. Made once from the configuration, never logged. */
export interface KeyRing {
  readonly current: RingKey;
  readonly byId: ReadonlyMap<string, RingKey>;
}

interface RingKey {
  readonly id: string;
  readonly key: Buffer;
}

/** Where a secret belongs; bound into its ciphertext, so that a row moved under another name does not open. */
interface SecretPlace {
  readonly name: string;
  readonly scope?: string;
}

const SECRET_NAME = /^[A-Z][A-Z0-9_]*$/;

/** Throws `bad_request` for a name no secret may have. */
export function checkSecretName(name: string): void {
  if (SECRET_NAME.test(name)) return;
  throw new CountersignError(
    "bad_request",
    `${JSON.stringify(name.slice(0, 100))} is no name for a secret; use capitals, digits and _, a letter first.`,
  );
}

/** Keys are 32 bytes in base64. `previous` keys open what they sealed and seal nothing. Throws `config_invalid`. */
export function createKeyRing(masterKey: string, previous: readonly string[] = []): KeyRing {
  const current = toRingKey(masterKey, "COUNTERSIGN_MASTER_KEY");
  const older = previous.map((key) => toRingKey(key, "COUNTERSIGN_MASTER_KEY_PREVIOUS"));
  return { current, byId: new Map([...older, current].map((key) => [key.id, key])) };
}

/** Encrypts with AES-256-GCM. The result is JSON text `{v, keyId, nonce, data}` to be stored as it is. */
export function sealSecret(ring: KeyRing, place: SecretPlace, value: string): string {
  checkSecretName(place.name);
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", ring.current.key, nonce).setAAD(boundTo(place));
  const data = Buffer.concat([cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return JSON.stringify({
    v: 1,
    keyId: ring.current.id,
    nonce: nonce.toString("base64"),
    data: data.toString("base64"),
  });
}

/** Throws `config_invalid` with a sentence that names the secret and never shows it. */
export function openSecret(ring: KeyRing, place: SecretPlace, sealed: string): string {
  const { keyId, nonce, data } = readSealed(sealed, place);
  const key = ring.byId.get(keyId);
  if (!key) {
    throw invalid(
      `The secret ${place.name} was written under another master key; put that key into COUNTERSIGN_MASTER_KEY_PREVIOUS, or set the secret again.`,
    );
  }
  try {
    const decipher = createDecipheriv("aes-256-gcm", key.key, nonce, { authTagLength: TAG_BYTES }).setAAD(
      boundTo(place),
    );
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw invalid(`The stored secret ${place.name} was altered or moved from another name; set it again.`, cause);
  }
}

const TAG_BYTES = 16;

function toRingKey(encoded: string, variable: string): RingKey {
  const master = Buffer.from(encoded, "base64");
  // Node's base64 decoder skips what is not base64: only a key that encodes back to itself was one.
  const canonical = master.toString("base64").replace(/=+$/, "");
  if (master.length !== 32 || canonical !== encoded.trim().replace(/=+$/, "")) {
    throw invalid(`${variable} has to be 32 bytes in base64; make one with \`openssl rand -base64 32\`.`);
  }
  // Derived, so that the master key can serve other purposes without one weakening another.
  const key = Buffer.from(hkdfSync("sha256", master, "", "countersign secrets v1", 32));
  return { id: createHash("sha256").update("key id").update(key).digest("hex").slice(0, 16), key };
}

/** As a JSON array: no name and scope joined another way give the same bytes. */
const boundTo = ({ name, scope }: SecretPlace): Buffer => Buffer.from(JSON.stringify(["secret", name, scope ?? null]));

function readSealed(sealed: string, place: SecretPlace): { keyId: string; nonce: Buffer; data: Buffer } {
  let read: unknown;
  try {
    read = JSON.parse(sealed);
  } catch {
    read = null;
  }
  if (isSealed(read)) {
    const nonce = Buffer.from(read.nonce, "base64");
    const data = Buffer.from(read.data, "base64");
    if (nonce.length === 12 && data.length >= TAG_BYTES) return { keyId: read.keyId, nonce, data };
  }
  throw invalid(`The stored secret ${place.name} is damaged; set it again.`);
}

const isSealed = (value: unknown): value is { v: 1; keyId: string; nonce: string; data: string } =>
  typeof value === "object" &&
  value !== null &&
  "v" in value &&
  value.v === 1 &&
  "keyId" in value &&
  typeof value.keyId === "string" &&
  "nonce" in value &&
  typeof value.nonce === "string" &&
  "data" in value &&
  typeof value.data === "string";

const invalid = (sentence: string, cause?: unknown): CountersignError =>
  new CountersignError("config_invalid", sentence, cause === undefined ? {} : { cause });
