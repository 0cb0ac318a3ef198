import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageRoot } from "../../../src/core/packageRoot.ts";
import type { LeaseRequest } from "../../../src/core/ports.ts";
import { whyNot } from "../../../src/core/runtime/isolation.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";
import {
  type Bundle,
  bundle,
  createHarness,
  fixture,
  type Harness,
  invocation,
  NEVER,
  valueFrom,
  withLease,
} from "./harness.ts";

let harness: Harness;
let calls: Bundle;
beforeAll(async () => {
  harness = await createHarness();
  calls = await fixture("calls");
});
afterAll(() => harness.close());

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const pidTool = bundle(
  `const t = Object.defineProperty({ name: "pid", description: "d", run: () => process.pid }, Symbol.for("countersign.kind"), { value: "tool" });
   export const modules = [{ t }]; export default () => "";`,
  [{ name: "pid", kind: "run" }],
);

test("one session at a time has a child, and the same session finds it warm", async () => {
  const host = harness.host({ agent: pidTool });
  const pid = (sessionId: string) =>
    withLease(host, sessionId, (runtime) => valueFrom(runtime.invoke(invocation("pid"))));
  const first = await pid("ses_a");
  expect(await pid("ses_a")).toBe(first);
  expect(await pid("ses_b")).not.toBe(first);

  const request = { deploymentId: "dpl_test", agentId: "agent", sessionId: "ses_a" };
  const [one, two] = await Promise.all([host.lease(request, NEVER), host.lease(request, NEVER)]);
  const pids = await Promise.all([one, two].map((runtime) => valueFrom(runtime.invoke(invocation("pid")))));
  expect(new Set(pids).size).toBe(2);
  await Promise.all([one.release(), two.release()]);
});

test("an idle child ends after its time", async () => {
  const host = harness.host({ agent: pidTool }, { idleMs: 20 });
  const pid = await withLease(host, "ses_idle", (runtime) => valueFrom(runtime.invoke(invocation("pid"))));
  await waitUntil(() => !isRunning(Number(pid)), "the child's end");
});

test("50 leases of 8 sessions share 4 children at most, and each is in its own session's workspace", async () => {
  let leased = 0;
  let most = 0;
  const onLease = (_: string, lease: LeaseRequest | null) => {
    leased += lease ? 1 : -1;
    most = Math.max(most, leased);
  };
  const host = harness.host({ agent: calls }, { poolSize: 4, onLease });
  const sessions = Array.from({ length: 50 }, (_, i) => `ses_many_${i % 8}`);
  const seen = await Promise.all(
    sessions.map((sessionId, i) =>
      withLease(host, sessionId, async (runtime) => {
        // A file of the lease's own: leases of one session share its workspace and may overlap.
        const input = JSON.stringify({ file: `lease-${i}`, text: sessionId });
        await valueFrom(runtime.invoke(invocation("write", { input })));
        return valueFrom(runtime.invoke(invocation("read", { input })));
      }),
    ),
  );
  expect(seen).toEqual(sessions);
  expect(most).toBe(4);
  expect(leased).toBe(0);
});

test("a deployment is written once, read-only, and never half", async () => {
  const deploymentsDir = join(harness.data, "deployments-once");
  const host = harness.host({ agent: pidTool }, { deploymentsDir });
  await Promise.all(["ses_1", "ses_2", "ses_3"].map((sessionId) => withLease(host, sessionId, async () => {})));
  expect(await readdir(deploymentsDir)).toEqual(["dpl_test"]);
  expect((await stat(join(deploymentsDir, "dpl_test/agents/agent/agent.js"))).mode & 0o777).toBe(0o444);
});

test("a deployment's file that would lie outside it is refused", async () => {
  const deployment = { path: "../../outside.js", content: Buffer.from("") };
  const host = harness.host(
    { agent: pidTool },
    {
      deploymentsDir: join(harness.data, "deployments-outside"),
      loadDeployment: async () => ({
        id: "dpl_test",
        manifest: { version: 1, project: "p", agents: [], approvals: {} as never, warnings: [], variables: [] },
        files: [deployment],
      }),
    },
  );
  await expect(withLease(host, "ses_1", async () => {})).rejects.toThrow("leaves the deployment");
});

test.each(["../up", "a/b", "", ".."])("a session id that cannot name a folder is refused: %j", async (sessionId) => {
  const host = harness.host({ agent: pidTool });
  await expect(withLease(host, sessionId, async () => {})).rejects.toThrow("cannot name a folder");
});

test("close ends every child, leased ones too, and refuses new leases", async () => {
  const host = harness.host({ agent: pidTool });
  const request = { deploymentId: "dpl_test", agentId: "agent", sessionId: "ses_close" };
  const leased = await host.lease(request, NEVER);
  const pids = [
    await valueFrom(leased.invoke(invocation("pid"))),
    await withLease(host, "ses_close_idle", (runtime) => valueFrom(runtime.invoke(invocation("pid")))),
  ];
  await host.close();
  expect(pids.map((pid) => isRunning(Number(pid)))).toEqual([false, false]);
  await leased.release();
  await expect(host.lease(request, NEVER)).rejects.toThrow("closed");
});

const kinds = (await whyNot("unshare")) === null ? ["unshare", "none"] : ["none"];

test.each(kinds)("a child too busy to notice ends with a parent that is killed, under %s", async (kind) => {
  // Inside node_modules, where the packages that a bundle leaves out are found.
  const folder = join(packageRoot(), "node_modules", `.countersign-test-${process.pid}`);
  const outfile = join(folder, "busyParent.mjs");
  const entryPoints = [join(packageRoot(), "test/fixtures/runtime/busyParent.ts")];
  await build({
    entryPoints,
    outfile,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    logLevel: "warning",
  });
  const parent = spawn(process.execPath, [outfile, kind], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [data] = (await once(parent.stdout, "data")) as [Buffer];
    const home = data.toString().trim();
    const size = () =>
      stat(join(home, "workspaces/ses_beats/beat")).then(
        ({ size }) => size,
        () => 0,
      );
    await waitUntil(async () => (await size()) > 0, "the first beat");
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await waitUntil(async () => {
      const before = await size();
      await sleep(50);
      return (await size()) === before;
    }, "the last beat");
    await rm(dirname(home), { recursive: true });
  } finally {
    parent.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
});
