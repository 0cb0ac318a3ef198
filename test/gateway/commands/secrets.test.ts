import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { packageRoot } from "../../../src/core/packageRoot.ts";
import { listSecretNames, removeSecret, setSecret } from "../../../src/gateway/commands/secrets.ts";
import { createEmbeddedPostgres } from "../../../src/gateway/embeddedPostgres.ts";
import { silentLog } from "../../helpers/log.ts";

const VALUE = "sk-live-that-nobody-may-see";
/** Two busy cores were seen to take 15 s for the first start of a cluster, and as long for a gateway's. */
const PATIENT_MS = 90_000;
const ENVIRONMENT = { LOG_LEVEL: "warn" };

describe("C3 countersign secrets", () => {
  let folder: string;
  let data: string;
  let output: MockInstance<typeof process.stdout.write>;
  let complaints: MockInstance<typeof process.stderr.write>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "countersign-secrets-"));
    data = join(folder, "data");
  });
  beforeEach(() => {
    output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    complaints = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  });
  afterEach(() => {
    expect(JSON.stringify([...output.mock.calls, ...complaints.mock.calls])).not.toContain(VALUE);
    vi.restoreAllMocks();
  });
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

  const said = () => output.mock.calls.splice(0).join("");
  const set = (name: string, scope?: string) =>
    setSecret(name, { data, ...(scope && { scope }) }, ENVIRONMENT, Readable.from([`${VALUE}\n`]));
  const list = async () => {
    said();
    await listSecretNames({ data }, ENVIRONMENT);
    return said();
  };
  const remove = (name: string, scope?: string) => removeSecret(name, { data, ...(scope && { scope }) }, ENVIRONMENT);

  it(
    "C3 sets, lists and removes while nothing runs, and leaves nothing running",
    async () => {
      await set("BILLING_KEY");
      expect(said()).toBe("BILLING_KEY is set\n");
      expect(await list()).toMatch(/^BILLING_KEY {2}\d{4}-\d\d-\d\dT\S+Z\n$/);
      await remove("BILLING_KEY");
      expect(said()).toBe("BILLING_KEY is removed\n");
      expect(await readdir(join(data, "postgres"))).not.toContain("owner");
      // An API key is shown once, by the first start: none may be made before it.
      expect(await readdir(join(data, "keys"))).toEqual(["master"]);
    },
    PATIENT_MS,
  );

  it(
    "C3 sets, lists and removes on the database that somebody else runs, each scope for itself",
    async () => {
      const embedded = createEmbeddedPostgres({ dataDir: join(data, "postgres"), log: silentLog });
      await embedded.start();
      try {
        await set("BILLING_KEY");
        await set("BILLING_KEY", "eu");
        expect((await list()).match(/^\w+ {2}(eu)?/gm)).toEqual(["BILLING_KEY  ", "BILLING_KEY  eu"]);
        await remove("BILLING_KEY");
        expect((await list()).match(/^\w+ {2}(eu)?/gm)).toEqual(["BILLING_KEY  eu"]);
        await remove("BILLING_KEY", "eu");
        await expect(remove("BILLING_KEY", "eu")).rejects.toThrow("There is no secret BILLING_KEY of scope eu.");
        expect(await list()).toBe("");
        expect(await readdir(join(data, "postgres"))).toContain("owner");
      } finally {
        await embedded.stop();
      }
    },
    PATIENT_MS,
  );

  it(
    "C3 commands that start together take turns, whoever of them runs the database",
    async () => {
      const names = ["A", "B", "C", "D"];
      await Promise.all(names.map((name) => set(name)));
      expect((await list()).match(/^\w+/gm)).toEqual(names);
      for (const name of names) await remove(name);
    },
    PATIENT_MS,
  );

  it(
    "C3 a command of its own beside a running gateway: the value shows in no output, argument, log or file",
    async () => {
      const agent = join(folder, "opencomputer/agents/helper");
      await mkdir(agent, { recursive: true });
      await writeFile(join(folder, "opencomputer/project.ts"), 'export default { name: "p", agents: ["helper"] };\n');
      await writeFile(join(agent, "agent.ts"), 'export default () => "You help.";\n');
      const gateway = countersign("start", "--project", folder, "--port", "0", "--admin-port", "0");
      try {
        await vi.waitFor(() => expect(gateway.output()).toMatch(/^ready http/m), PATIENT_MS);
        const command = countersign("secrets", "set", "BILLING_KEY");
        command.child.stdin.end(VALUE);
        expect(await command.ended).toBe(0);
        expect(command.output()).toBe("BILLING_KEY is set\n");
        const admin = /admin +(\S+)/.exec(gateway.output())?.[1] ?? "";
        expect(await (await fetch(admin)).json()).toMatchObject({ status: "ready" });
      } finally {
        gateway.child.kill("SIGTERM");
        expect(await gateway.ended).toBe(0);
      }
      expect(gateway.output()).not.toContain(VALUE);
      const entries = await readdir(data, { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      for (const file of files) expect((await readFile(file)).includes(VALUE), file).toBe(false);
      expect(await list()).toContain("BILLING_KEY");
    },
    PATIENT_MS,
  );

  it("C3 refuses a name no secret may have, and an empty value, before anything is started", async () => {
    await expect(set("lower")).rejects.toThrow("is no name for a secret");
    const empty = setSecret("EMPTY", { data: join(folder, "none") }, ENVIRONMENT, Readable.from(["\n"]));
    await expect(empty).rejects.toThrow("Write the value of EMPTY to standard input");
    expect(await readdir(folder)).not.toContain("none");
  });

  /** A process of its own. */
  function countersign(...args: string[]) {
    const cli = join(packageRoot(), "dist/gateway/cli.js");
    const child = spawn(process.execPath, [cli, ...args, "--data", data], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, LOG_LEVEL: args[0] === "start" ? "debug" : "warn" },
    });
    let written = "";
    const keep = (chunk: Buffer) => {
      written += chunk;
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const ended = once(child, "close").then(([code]) => code as number | null);
    return { child, ended, output: () => written };
  }
});
