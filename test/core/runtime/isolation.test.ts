import { mkdir, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { detectIsolation, type Isolation, whyNot } from "../../../src/core/runtime/isolation.ts";
import { createHarness, fixture, type Harness, invocation, valueFrom, withLease } from "./harness.ts";

const MARKER = "COUNTERSIGN_TEST_SECRET";

let harness: Harness;
beforeAll(async () => {
  process.env[MARKER] = "visible to nobody";
  harness = await createHarness();
  await mkdir(join(harness.data, "workspaces", "ses_other"), { recursive: true });
  await writeFile(join(harness.data, "master.key"), "secret");
});
afterAll(async () => {
  delete process.env[MARKER];
  await harness.close();
});

const candidates = ["bubblewrap", "unshare"] as const;
const working = (await Promise.all(candidates.map(async (kind) => ({ kind, why: await whyNot(kind) })))).filter(
  ({ why }) => why === null,
);
const kinds: Isolation["kind"][] = [...working.map(({ kind }) => kind), "none"];

test("C1 the probe picks the strongest that works here, and says why", async () => {
  const detected = await detectIsolation();
  expect(detected.kind).toBe(kinds[0]);
  expect(detected.reason).toMatch(detected.kind === "none" ? /bubblewrap: .+; unshare: .+/ : /works/);
});

describe.each(kinds)("C1 under %s", (kind) => {
  const host = async () =>
    harness.host(
      { agent: await fixture("calls") },
      {
        isolation: { kind, reason: "of this test" },
        env: async () => ({
          REGION: "eu",
          HOME: "/elsewhere",
          PATH: "/elsewhere",
          OPENCOMPUTER_CONNECTION_TOKEN: "mine",
        }),
        connectionsUrl: "http://127.0.0.1:9/connections",
        issueToken: () => "token-of-this-runtime",
      },
    );

  test("the environment holds what is ours and the runtime variables, nothing of the parent", async () => {
    const seen = await withLease(await host(), `ses_env_${kind}`, (runtime) =>
      valueFrom(runtime.invoke(invocation("environment"))),
    );
    const workspace = join(harness.data, "workspaces", `ses_env_${kind}`);
    expect(seen).toMatchObject({
      cwd: workspace,
      env: {
        PATH: expect.stringContaining("/usr/bin"),
        HOME: workspace,
        TMPDIR: "/tmp",
        LANG: "C.UTF-8",
        TZ: "UTC",
        REGION: "eu",
        OPENCOMPUTER_CONNECTIONS_URL: "http://127.0.0.1:9/connections",
        OPENCOMPUTER_CONNECTION_TOKEN: "token-of-this-runtime",
      },
    });
    expect(Object.keys((seen as { env: object }).env)).toHaveLength(8);
  });

  test("the data folder, the parent's processes and every other session are out of sight, the machine read-only", async () => {
    const sessionId = `ses_spy_${kind}`;
    const workspace = join(harness.data, "workspaces", sessionId);
    const hidden = [join(harness.data, "master.key"), join(harness.data, "workspaces", "ses_other")];
    const shown = [workspace, process.execPath];
    const writes = { mine: join(workspace, "mine"), entry: join(harness.data, "..", "child", "main.mjs") };
    const input = JSON.stringify({
      parent: process.pid,
      marker: MARKER,
      paths: [...hidden, ...shown],
      writes: kind === "none" ? [writes.mine] : Object.values(writes),
    });
    const seen = await withLease(await host(), sessionId, (runtime) =>
      valueFrom(runtime.invoke(invocation("spy", { input }))),
    );

    const [node, git] = (seen as { programs: string[] }).programs;
    expect(node).toMatch(/^v\d+/);
    expect(git).toMatch(/^git version/);
    if (kind === "none") {
      // What `start` warns of: the child is another process, and that is all.
      expect(seen).toMatchObject({ visible: [...hidden, ...shown], writes: { [writes.mine]: "written" } });
      return;
    }
    expect(seen).toMatchObject({
      visible: shown,
      parentEnvironment: "ENOENT",
      capabilities: "0000000000000000",
      writes: { [writes.mine]: "written", [writes.entry]: "EROFS" },
    });
    const { processes, pidNamespace } = seen as { processes: number; pidNamespace: string };
    expect(processes).toBeLessThanOrEqual(3);
    expect(pidNamespace).not.toBe(await readlink("/proc/self/ns/pid"));
  });

  test("the workspace stays between leases and children of its session", async () => {
    const shared = await host();
    const sessionId = `ses_kept_${kind}`;
    await withLease(shared, sessionId, (runtime) =>
      valueFrom(runtime.invoke(invocation("write", { input: '{"file":"note","text":"kept"}' }))),
    );
    const next = await host();
    const read = (runtime: Parameters<Parameters<typeof withLease>[2]>[0]) =>
      valueFrom(runtime.invoke(invocation("read", { input: '{"file":"note"}' })));
    expect(await withLease(next, sessionId, read)).toBe("kept");
    expect(await withLease(next, `${sessionId}_other`, read)).toBe("ENOENT");
  });
});
