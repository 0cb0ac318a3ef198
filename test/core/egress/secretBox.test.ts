import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkSecretName, createKeyRing, openSecret, sealSecret } from "../../../src/core/egress/secretBox.ts";

const key = () => randomBytes(32).toString("base64");
const place = { name: "BILLING_KEY" };

describe("C3 secrets at rest", () => {
  it("C3 what was sealed opens again, and shows nothing of itself", () => {
    const ring = createKeyRing(key());
    for (const value of ["sk-live-ü-😀", "", "x".repeat(10_000)]) {
      const sealed = sealSecret(ring, place, value);
      expect(openSecret(ring, place, sealed)).toBe(value);
      if (value) expect(sealed).not.toContain(value.slice(0, 7));
    }
  });

  it("C3 the same secret is never sealed into the same bytes", () => {
    const ring = createKeyRing(key());
    expect(sealSecret(ring, place, "same")).not.toBe(sealSecret(ring, place, "same"));
  });

  it("C3 the record names its key, so that a new master key opens what the previous one sealed", () => {
    const [old, current] = [key(), key()];
    const sealed = sealSecret(createKeyRing(old), place, "s3cret");
    const ring = createKeyRing(current, [old]);
    expect(openSecret(ring, place, sealed)).toBe("s3cret");
    expect(JSON.parse(sealSecret(ring, place, "s3cret")).keyId).not.toBe(JSON.parse(sealed).keyId);
  });

  it("C3 under a key that is not in the ring, the sentence names the secret and what to set", () => {
    const sealed = sealSecret(createKeyRing(key()), place, "s3cret");
    expect(() => openSecret(createKeyRing(key()), place, sealed)).toThrow(
      /BILLING_KEY.*COUNTERSIGN_MASTER_KEY_PREVIOUS/,
    );
  });

  it("C3 a record moved to another name or scope, or altered, does not open", () => {
    const ring = createKeyRing(key());
    const sealed = sealSecret(ring, { name: "A", scope: "B" }, "s3cret");
    for (const other of [{ name: "A" }, { name: "B", scope: "B" }, { name: "A", scope: "C" }]) {
      expect(() => openSecret(ring, other, sealed)).toThrow(/altered or moved/);
    }
    const record = JSON.parse(sealed);
    const data = Buffer.from(record.data, "base64");
    data.writeUInt8(data.readUInt8(0) ^ 1, 0);
    const altered = JSON.stringify({ ...record, data: data.toString("base64") });
    expect(() => openSecret(ring, { name: "A", scope: "B" }, altered)).toThrow(/altered or moved/);
    for (const damaged of [
      "",
      "{}",
      "null",
      JSON.stringify({ ...record, data: "" }),
      JSON.stringify({ ...record, nonce: "AA" }),
    ]) {
      expect(() => openSecret(ring, place, damaged)).toThrow(/damaged/);
    }
  });

  it.each([
    "",
    "short",
    randomBytes(31).toString("base64"),
    randomBytes(33).toString("base64"),
    `${randomBytes(32).toString("base64")}!`,
  ])("C3 %j is no master key, and the sentence does not repeat it", (bad) => {
    expect(() => createKeyRing(bad)).toThrow("COUNTERSIGN_MASTER_KEY has to be 32 bytes in base64");
    expect(() => createKeyRing(key(), [bad])).toThrow("COUNTERSIGN_MASTER_KEY_PREVIOUS has to be");
  });

  it("C3 names are capitals, digits and underscores", () => {
    for (const name of ["A", "BILLING_KEY", "K2_"]) expect(() => checkSecretName(name)).not.toThrow();
    for (const name of ["", "a", "2A", "_A", "A-B", "A B", "A\n"])
      expect(() => checkSecretName(name)).toThrow(/no name for a secret/);
  });
});
