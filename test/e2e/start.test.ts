import { mkdir } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { createSlackSimulator } from "../../src/adapters/slack/simulator/index.ts";
import { livingIn } from "../helpers/livingIn.ts";
import { copySupportProject } from "../helpers/supportProject.ts";
import { type Environment, shared, type World } from "./world.ts";

interface Refusal {
  readonly says: RegExp;
  readonly env?: Environment;
  /** Added to, and winning over, flags that would start. */
  readonly flags?: readonly string[];
}

/** What stands in the way, made for one test. */
const IN_THE_WAY: Record<string, (world: World) => Refusal | Promise<Refusal>> = {
  "a token without its signing secret": () => ({
    env: { SLACK_SIGNING_SECRET: undefined },
    says: /^SLACK_BOT_TOKEN is set without SLACK_SIGNING_SECRET; .+ \(config_invalid\)$/,
  }),
  "a data folder that cannot be": () => ({
    flags: ["--data", "/dev/null/data"],
    says: /^The data folder \/dev\/null\/data cannot be written \(ENOTDIR\); .+ \(config_invalid\)$/,
  }),
  "a worker without any Slack": () => ({
    env: { SLACK_BOT_TOKEN: undefined, SLACK_SIGNING_SECRET: undefined, SLACK_API_URL: undefined },
    flags: ["--role", "worker"],
    says: /^--role worker needs a Slack .+ SLACK_BOT_TOKEN .+ \(config_invalid\)$/,
  }),
  "a token that Slack refuses": async () => ({
    env: { SLACK_API_URL: await anotherSlack() },
    says: /^Slack refused SLACK_BOT_TOKEN \(invalid_auth\); .+ \(config_invalid\)$/,
  }),
  "a Slack that cannot be reached": () => ({
    env: { SLACK_API_URL: "http://127.0.0.1:1/api/" },
    says: /^Slack cannot be reached at http:\/\/127\.0\.0\.1:1\/api\/ .+ \(config_invalid\)$/,
  }),
  "a project that cannot be parsed": async (world) => ({
    flags: ["--project", await brokenProject(world)],
    says: /attach\.ts:\d+.*\(project_invalid\)$/,
  }),
  "a folder without a project": (world) => ({
    flags: ["--project", world.folder],
    says: /it has no project\.ts, and no opencomputer\/ with one .+ \(project_invalid\)$/,
  }),
  "a public port in use": async () => {
    const port = await taken();
    return { flags: ["--port", port], says: new RegExp(`^Port ${port} on .+ taken; .+ --port\\. \\(port_in_use\\)$`) };
  },
  "an admin port in use, beside an embedded PostgreSQL": async () => {
    const port = await taken();
    return {
      env: { DATABASE_URL: undefined },
      flags: ["--admin-port", port],
      says: new RegExp(`^Port ${port} on .+ taken; .+ --admin-port\\. \\(port_in_use\\)$`),
    };
  },
  "a host that is nobody's": () => ({
    env: { HOST: "nobody.invalid" },
    says: /^nobody\.invalid:0 cannot be listened on \(E\w+\); .+ HOST or --port\. \(config_invalid\)$/,
  }),
  "a database that refuses": () => ({
    env: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" },
    says: /^PostgreSQL cannot be reached; check DATABASE_URL\. \(database_unreachable\)$/,
  }),
  "a database that takes connections and says nothing": async () => ({
    env: { DATABASE_URL: `postgres://nobody@127.0.0.1:${await taken()}/none` },
    says: /^PostgreSQL cannot be reached; check DATABASE_URL\. \(database_unreachable\)$/,
  }),
  "a database that does not exist": ({ db }) => ({
    env: { DATABASE_URL: `${db.url}_not` },
    says: /^PostgreSQL cannot be reached; check DATABASE_URL\. \(database_unreachable\)$/,
  }),
  "a Redis that cannot be reached": () => ({
    env: { REDIS_URL: "redis://127.0.0.1:1" },
    says: /^Redis cannot be reached; check REDIS_URL\. \(queue_unreachable\)$/,
  }),
};

let folders = 0;

describe("a start that cannot be", { timeout: 120_000 }, () => {
  shared.for(Object.keys(IN_THE_WAY))(
    "%s: one sentence that says what to do, and nothing is left running",
    async (what, { world }) => {
      const { env, flags = [], says } = (await IN_THE_WAY[what]?.(world)) ?? { says: /$^/ };
      const data = join(world.folder, `data-${++folders}`);
      const usual = ["--project", world.project.dir, "--data", data, "--port", "0", "--admin-port", "0"];
      const { code, signal, stdout, stderr } = await world.run(["start", ...usual, ...flags], env).ended;

      expect({ code, signal, stdout }).toEqual({ code: 1, signal: null, stdout: "" });
      const sentences = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
      expect(sentences).toEqual([expect.stringMatching(/^countersign: /)]);
      expect(sentences[0]?.slice("countersign: ".length)).toMatch(says);
      expect(livingIn(data)).toEqual([]);
    },
  );
});

async function brokenProject({ folder }: World): Promise<string> {
  const dir = join(folder, "broken");
  await mkdir(dir);
  const project = await copySupportProject(dir, { origin: "http://127.0.0.1:4010", key: "k" });
  await project.change("agents/support/tools/attach.ts", "export const attach =", "export const =");
  return dir;
}

/** One that knows nothing of the world's token. */
async function anotherSlack(): Promise<string> {
  const another = createSlackSimulator();
  await another.start();
  onTestFinished(() => another.stop());
  return another.apiUrl;
}

/** The port of a server that never says a word. */
async function taken(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server got no port.");
  return String(address.port);
}
