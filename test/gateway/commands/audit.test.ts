import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { createHeadKey } from "../../../src/core/record/headKey.ts";
import { printAuditKey, verifyExport, writeExport } from "../../../src/gateway/commands/audit.ts";
import { clickCard, createTestCore, newThread, post, type TestCore } from "../../helpers/core.ts";

const MASTER_KEY = Buffer.alloc(32, 7).toString("base64");
const KEY = createHeadKey(MASTER_KEY).publicKey;

describe("countersign audit", () => {
  let t: TestCore;
  let folder: string;
  let file: string;
  let output: MockInstance<typeof process.stdout.write>;

  beforeAll(async () => {
    t = await createTestCore();
    await t.reset();
    folder = await mkdtemp(join(tmpdir(), "countersign-audit-"));
    file = join(folder, "record.jsonl");
    for (const verb of ["approve", "reject"] as const) {
      const thread = newThread();
      t.model.script({ calls: [{ tool: "attach", input: {} }] });
      await t.receive(post(thread, "go"));
      await t.drain();
      await t.receive(clickCard(thread, t.lastCard(), verb));
      await t.drain();
    }
  });
  beforeEach(() => {
    output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    process.exitCode = undefined;
  });
  afterEach(() => {
    vi.restoreAllMocks();
    process.exitCode = undefined;
  });
  afterAll(async () => {
    await t.close();
    await rm(folder, { recursive: true });
  });

  const environment = () => ({ DATABASE_URL: t.database.url, COUNTERSIGN_MASTER_KEY: MASTER_KEY, LOG_LEVEL: "error" });
  const said = () => output.mock.calls.splice(0).join("");
  const verified = async (key = KEY, witness: string[] = []) => {
    said();
    await verifyExport(file, { key: [key], witness });
    const exitCode = process.exitCode ?? 0;
    process.exitCode = undefined;
    return { exitCode, output: said() };
  };

  it("I9 exports the record, which the public key alone verifies", async () => {
    await printAuditKey({ data: folder }, environment());
    expect(said()).toBe(`${KEY}\n`);
    await writeExport(file, { data: folder }, environment());
    expect(said()).toContain(`${file} is written, signed with ${KEY}`);
    expect(await readdir(folder)).toEqual(["record.jsonl"]);
    const { exitCode, output: report } = await verified();
    expect(report).toContain("8 entries of 2 decisions; the last is 8, ");
    expect(report).toContain(`with ${KEY}\nthe record is whole\n`);
    expect(exitCode).toBe(0);
  });

  it("I9 says what is wrong with an altered export, with exit code 1", async () => {
    await writeExport(file, { data: folder }, environment());
    const lines = (await readFile(file, "utf8")).split("\n");
    await writeFile(file, lines.with(2, (lines[2] ?? "").replace("U_ANA", "U_EVE")).join("\n"));
    const { exitCode, output: report } = await verified();
    expect(report).toContain("✗ entry 4 does not follow entry 3 as it stands: one of them was changed\n");
    expect(report).toContain("the record is NOT whole\n");
    expect(exitCode).toBe(1);
  });

  it("A9 finds the entry that a card names, and misses one that is not there", async () => {
    await writeExport(file, { data: folder }, environment());
    expect((await verified(KEY, [t.lastCard().record?.hash ?? ""])).exitCode).toBe(0);
    const { exitCode, output: report } = await verified(KEY, ["0".repeat(64)]);
    expect(report).toContain(`✗ no entry has the hash ${"0".repeat(64)}`);
    expect(exitCode).toBe(1);
  });

  it("refuses a key that is none, and a file that is not there, with one sentence", async () => {
    await expect(verifyExport(file, { key: ["secret"] })).rejects.toMatchObject({
      code: "bad_request",
      message: "secret is no public key; give what `countersign audit key` shows.",
    });
    await expect(verifyExport(join(folder, "none"), { key: [KEY] })).rejects.toMatchObject({ code: "bad_request" });
  });
});
