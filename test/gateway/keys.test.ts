import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadOrCreateKeys } from "../../src/gateway/keys.ts";

describe("loadOrCreateKeys", () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "countersign-keys-"));
  });
  afterEach(async () => {
    await rm(dataDir, { recursive: true });
  });

  it("makes both at the first start and finds them at the second", async () => {
    const first = await loadOrCreateKeys({ dataDir, masterKey: null, apiKey: null });
    const second = await loadOrCreateKeys({ dataDir, masterKey: null, apiKey: null });
    expect(Buffer.from(first.masterKey, "base64")).toHaveLength(32);
    expect(first.createdApiKey).toBe(true);
    expect(second).toEqual({ ...first, createdApiKey: false });
  });

  it("keeps them for their owner alone, and nothing else", async () => {
    await loadOrCreateKeys({ dataDir, masterKey: null, apiKey: null });
    const files = (await readdir(join(dataDir, "keys"))).sort();
    expect(files).toEqual(["api", "master"]);
    for (const file of files) expect((await stat(join(dataDir, "keys", file))).mode & 0o777).toBe(0o600);
    expect((await stat(join(dataDir, "keys"))).mode & 0o777).toBe(0o700);
  });

  it("uses what was configured, and writes none of it down", async () => {
    const keys = await loadOrCreateKeys({ dataDir, masterKey: "m", apiKey: "a" });
    expect(keys).toEqual({ masterKey: "m", apiKey: "a", createdApiKey: false });
    expect(await readdir(dataDir)).toEqual([]);
  });

  it("gives two that start together the same", async () => {
    const starts = Array.from({ length: 8 }, () => loadOrCreateKeys({ dataDir, masterKey: null, apiKey: null }));
    const all = await Promise.all(starts);
    expect(new Set(all.map((keys) => keys.masterKey)).size).toBe(1);
    expect(new Set(all.map((keys) => keys.apiKey)).size).toBe(1);
    expect((await readFile(join(dataDir, "keys/api"), "utf8")).trim()).toBe(all[0]?.apiKey);
  });
});
