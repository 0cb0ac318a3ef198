import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type ConnectionManifest, DEFAULT_APPROVALS } from "../../../src/core/domain/manifest.ts";
import { activateDeployment, insertDeployment } from "../../../src/core/store/deployments.ts";
import { setSecret } from "../../../src/gateway/commands/secrets.ts";
import { createEmbeddedPostgres } from "../../../src/gateway/embeddedPostgres.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { createProcesses, type Processes } from "../../helpers/gatewayProcess.ts";
import { silentLog } from "../../helpers/log.ts";

/** Two busy cores were seen to take 15 s for the first start of a cluster. */
const PATIENT_MS = 90_000;

describe("countersign doctor", { timeout: PATIENT_MS }, () => {
  let processes: Processes;
  let folder: string;
  let db: TestDatabase;
  beforeAll(async () => {
    processes = createProcesses();
    folder = await mkdtemp(join(tmpdir(), "countersign-doctor-"));
    db = await createTestDatabase();
  });
  afterAll(async () => {
    await processes.killAll();
    await db.drop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  async function doctor(data: string, env: Record<string, string> = {}) {
    const { code, stdout, stderr } = await processes.run(["doctor", "--data", data], {
      cwd: folder,
      env: { HOME: folder, ...env },
    }).ended;
    const findings = stdout
      .trimEnd()
      .split("\n")
      .map((line) => /^(\w+) +(\S+(?: folder)?) +(.*)$/.exec(line)?.slice(1) ?? [line]);
    const of = (about: string) =>
      findings.filter((finding) => finding[1] === about).map(([level, , says]) => `${level}: ${says}`);
    return { code, stderr, findings, of };
  }

  it("on a new machine: says what it could not look at, starts nothing and makes nothing", async () => {
    const { code, stderr, of } = await doctor(join(folder, "new"));
    expect([code, stderr]).toEqual([0, ""]);
    expect(of("database")).toEqual([expect.stringMatching(/^warning: The embedded PostgreSQL does not run/)]);
    expect(of("data folder")).toEqual([expect.stringMatching(/^ok: .* the first start makes it\.$/)]);
    expect(of("keys")).toEqual([expect.stringMatching(/^ok: No master key yet/)]);
    expect(await readdir(folder)).not.toContain("new");
  });

  it("names every problem, and exits with 1", async () => {
    const { code, of } = await doctor(join(folder, "new"), {
      DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
      REDIS_URL: "redis://127.0.0.1:1",
      COUNTERSIGN_MASTER_KEY: Buffer.alloc(32, 1).toString("base64"),
    });
    expect(code).toBe(1);
    expect(of("database")).toEqual([
      "problem: PostgreSQL does not answer (ECONNREFUSED); check DATABASE_URL, and that it runs.",
    ]);
    expect(of("queue")).toEqual(["problem: Redis does not answer; check REDIS_URL, and that it runs."]);
    expect(of("keys")).toEqual(["ok: The master key can be used."]);
  });

  it("tells a configuration that cannot be, and looks no further", async () => {
    const { code, findings } = await doctor(join(folder, "new"), { SLACK_BOT_TOKEN: "xoxb-1" });
    expect(code).toBe(1);
    expect(findings).toEqual([
      ["problem", "configuration", expect.stringMatching(/^SLACK_BOT_TOKEN is set without SLACK_SIGNING_SECRET/)],
    ]);
  });

  it("C3 names a secret that is missing, and the command that sets it", async () => {
    const data = join(folder, "secrets");
    const env = { DATABASE_URL: db.url, NODE_ENV: "test" };
    await activate(db);
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    await setSecret("THERE", { data }, { ...env, LOG_LEVEL: "warn" }, Readable.from(["value"]));
    vi.restoreAllMocks();
    const { code, of } = await doctor(data, env);
    expect(code).toBe(0);
    expect(of("database")).toEqual([expect.stringMatching(/^ok: PostgreSQL \d+\S* answers and takes writes\.$/)]);
    expect(of("schema")).toEqual(["ok: Every migration has run."]);
    // The tests' server does not wait for its disk.
    expect(of("durability")).toEqual([expect.stringMatching(/^warning: fsync is off/)]);
    expect(of("clock")).toEqual([expect.stringMatching(/^ok: /)]);
    expect(of("secrets")).toEqual([
      expect.stringMatching(
        /^warning: MISSING of scope eu is not set, .* run countersign secrets set MISSING --scope eu\.$/,
      ),
    ]);

    const another = { ...env, COUNTERSIGN_MASTER_KEY: Buffer.alloc(32, 2).toString("base64") };
    const locked = await doctor(data, another);
    expect(locked.code).toBe(1);
    expect(locked.of("secrets")).toContainEqual(
      expect.stringMatching(/^problem: THERE does not open with this master key/),
    );

    await chmod(join(data, "keys/master"), 0o644);
    expect((await doctor(data, env)).of("keys")).toEqual([expect.stringMatching(/^warning: Others .* chmod 600 /)]);
  });

  it("looks at an embedded PostgreSQL that somebody runs, and leaves it running", async () => {
    const data = join(folder, "embedded");
    const embedded = createEmbeddedPostgres({ dataDir: join(data, "postgres"), log: silentLog });
    await embedded.start();
    try {
      const { code, of } = await doctor(data);
      expect(code).toBe(0);
      expect(of("database")).toEqual([expect.stringMatching(/^ok: PostgreSQL /)]);
      expect(of("schema")).toEqual([
        expect.stringMatching(/^warning: Not migrated yet: 0001_initial.*; the next start does it\.$/),
      ]);
      expect(of("durability")).toEqual(["ok: Commits wait for the disk; no standby is connected."]);
      expect(await readdir(join(data, "postgres"))).toContain("owner");
    } finally {
      await embedded.stop();
    }
  });
});

/** A deployment whose one connection sends two secrets. */
async function activate({ pool }: TestDatabase): Promise<void> {
  const header = { name: "authorization", prefix: "Bearer ", suffix: "" };
  const connection: ConnectionManifest = {
    id: "billing",
    origin: "https://billing.example",
    redirectOrigins: [],
    headers: [
      { ...header, secret: "THERE" },
      { ...header, secret: "MISSING", scope: "eu" },
      { name: "x-plain", literal: "text" },
    ],
  };
  const agent = {
    id: "a",
    module: "a.js",
    tools: [],
    connections: [connection],
    secrets: ["THERE", "MISSING"],
    builtins: [],
  };
  const manifest = {
    version: 1 as const,
    project: "p",
    agents: [agent],
    approvals: DEFAULT_APPROVALS,
    warnings: [],
    variables: [],
  };
  await insertDeployment(pool, { id: "dpl_doctor", manifest, files: [] });
  await activateDeployment(pool, "dpl_doctor");
}
