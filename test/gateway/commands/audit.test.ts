import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
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

  it("I9 shows what a doctored export holds, and lets it draw nothing on the screen", async () => {
    await writeExport(file, { data: folder }, environment());
    const lines = (await readFile(file, "utf8")).split("\n");
    const odd = (lines[1] ?? "").replace(/"decision" : "/, "$&\\u001b[2K\\u202e");
    await writeFile(file, lines.with(1, odd).join("\n"));
    const { exitCode, output: report } = await verified();
    expect(report).toContain("✗ entry 2: \\u{1b}[2K\\u{202e}dec_");
    expect(report).not.toMatch(/[\u001b\u202e]/);
    expect(exitCode).toBe(1);
  });

  it("I9 does not take a file that lost everything for a record that is empty", async () => {
    await writeFile(file, "");
    const { exitCode, output: report } = await verified();
    expect(report).toContain("✗ no given key vouches for any of it\n");
    expect(exitCode).toBe(1);
  });

  it("I9 exports nothing where entries are gone that the record's head counts", async () => {
    await t.core.pool.query("update decision_record_head set seq = seq + 1");
    const lost = "begin; set local session_replication_role = replica;";
    const signed = createHeadKey(MASTER_KEY).publicKey;
    await t.core.pool.query(`${lost} insert into decision_record_signatures
      select seq, hash, countersign_now(), '${signed}', 'x' from decision_record_head; commit`);
    await rm(file);
    await expect(writeExport(file, { data: folder }, environment())).rejects.toThrow("Entries behind 8 of 9 are gone");
    expect(await readdir(folder)).toEqual([]);
    await t.core.pool.query(`${lost} delete from decision_record_signatures where seq = 9; commit;
      update decision_record_head set seq = seq - 1`);
  });

  it("A9 finds the entry that a card names, and misses one that is not there", async () => {
    await writeExport(file, { data: folder }, environment());
    expect((await verified(KEY, [t.lastCard().record?.hash ?? ""])).exitCode).toBe(0);
    const { exitCode, output: report } = await verified(KEY, ["0".repeat(64)]);
    expect(report).toContain(`✗ no entry has the hash ${"0".repeat(64)}`);
    expect(exitCode).toBe(1);
  });

  it("I9 makes no key where there is none: it would vouch for a record that it never signed", async () => {
    const nowhere = { data: join(folder, "nowhere") };
    const keyless = { ...environment(), COUNTERSIGN_MASTER_KEY: undefined };
    const says = { code: "config_invalid", message: expect.stringMatching(/nowhere\/keys\/master .+ENOENT.+--data/) };
    await expect(printAuditKey(nowhere, keyless)).rejects.toMatchObject(says);
    await expect(writeExport(file, nowhere, keyless)).rejects.toMatchObject(says);
    expect(await readdir(folder)).not.toContain("nowhere");
  });

  it.each([
    ["none/record.jsonl", "ENOENT"],
    ["", "EISDIR"],
  ])("says in one sentence that '%s' cannot be written", async (name, code) => {
    const there = join(folder, name);
    await expect(writeExport(there, { data: folder }, environment())).rejects.toMatchObject({
      code: "bad_request",
      message: `${there} cannot be written (${code}); name another file.`,
    });
    expect(await readdir(tmpdir())).not.toContain(`${basename(folder)}.partial`);
  });

  it("refuses a key that is none, and a file that is not there, with one sentence", async () => {
    await expect(verifyExport(file, { key: ["secret"] })).rejects.toMatchObject({
      code: "bad_request",
      message: "secret is no public key; give what `countersign audit key` shows.",
    });
    await expect(verifyExport(join(folder, "none"), { key: [KEY] })).rejects.toMatchObject({ code: "bad_request" });
  });
});
