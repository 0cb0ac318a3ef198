import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageRef, SlackSimulator } from "../../adapters/slack/simulator/index.ts";
import { buildProject } from "../../core/build/buildProject.ts";
import { findProject } from "../../core/build/project.ts";
import { loadConfig } from "../../core/config.ts";
import { packageRoot } from "../../core/packageRoot.ts";
import { type Gateway, startGateway } from "../compose.ts";
import { type Example, startExample } from "../example.ts";
import { loadOrCreateKeys } from "../keys.ts";
import { createLog } from "../log.ts";

/**
 * `npm run demo`: one change from a mention to a write that ran once, over real HTTP, against the Slack simulator and
 * the example's billing server. Exit code 0 only when the billing server itself counts one write.
 */
export async function demo(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), "countersign-demo-"));
  let gateway: Gateway | null = null;
  let example: Example | null = null;
  try {
    example = await startExample(dataDir, 0);
    gateway = await serve(dataDir, example);
    if (!gateway.simulator) throw new Error("the demo runs against the simulator");
    await tell(gateway.simulator);
    const writes = await countWrites(example.url);
    say("billing", `writes: ${writes}`);
    process.exitCode = writes === 1 ? 0 : 1;
  } finally {
    await gateway?.close();
    await example?.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function serve(dataDir: string, example: Example): Promise<Gateway> {
  // A configuration of its own: the demo speaks with the demo model, whatever keys this machine has.
  const config = loadConfig({ env: { LOG_LEVEL: "warn" }, flags: { data: dataDir, port: "0", adminPort: "0" } });
  const project = join(packageRoot(), "examples/support");
  return startGateway({
    config,
    keys: await loadOrCreateKeys(config),
    log: createLog(config.logLevel),
    environment: {},
    serve: async () => ({
      deployment: await buildProject({
        dir: project,
        allowLoopback: true,
        overrideOrigins: { billing: example.url },
      }),
      folder: findProject(project),
      values: example.values,
    }),
  });
}

async function tell(sim: SlackSimulator): Promise<void> {
  const { ada, bo } = sim.people;
  const asked = "Move customer cus_42 to the team plan";
  say("Ada", `@countersign ${asked}`);
  const root = await ada.mention(sim.general, asked);

  const question = await withButton(sim, root, "Monthly");
  say("agent", `${textOf(sim, question)}   ${buttonsOf(sim, question)}`);
  say("Ada", "clicks Monthly");
  await ada.click(question, { buttonText: "Monthly" });

  const card = await withButton(sim, root, "Approve");
  say("card", `${textOf(sim, card)}   ${buttonsOf(sim, card)}`);
  say("Bo", "clicks Approve, but was not asked");
  await bo.click(card, { buttonText: "Approve" });
  const note = await sim.waitFor(() => sim.ephemerals.at(-1), { timeoutMs: 20_000, what: "a private note to Bo" });
  say("to Bo", note.text);

  say("Ada", "clicks Approve, and Slack delivers the click three times");
  const click = await ada.click(card, { buttonText: "Approve" });
  for (const retryNum of [1, 2]) await sim.redeliver(click, { retryNum });
  await sim.waitFor(() => textOf(sim, card).includes("(applied)"), {
    timeoutMs: 30_000,
    what: "the card to say applied",
  });
  say("card", textOf(sim, card));
  const last = await sim.waitFor(
    () => sim.thread(root.channel, root.ts).find((m) => m.ts > card.ts && /\bapplied\b/.test(m.text)),
    { timeoutMs: 20_000, what: "the agent's word on the outcome" },
  );
  say("agent", last.text);
}

async function withButton(sim: SlackSimulator, root: MessageRef, text: string): Promise<MessageRef> {
  const message = await sim.waitFor(
    () =>
      sim
        .thread(root.channel, root.ts)
        .find((m) => sim.buttons({ channel: root.channel, ts: m.ts }).some((b) => b.text === text)),
    { timeoutMs: 30_000, what: `a message with the button ${text}` },
  );
  return { channel: root.channel, ts: message.ts };
}

const textOf = (sim: SlackSimulator, ref: MessageRef): string => sim.message(ref)?.text.replaceAll("\n", " · ") ?? "";

const buttonsOf = (sim: SlackSimulator, ref: MessageRef): string =>
  sim
    .buttons(ref)
    .map((b) => `[${b.text}]`)
    .join(" ");

async function countWrites(url: string): Promise<number> {
  const { writes } = (await (await fetch(`${url}/writes`)).json()) as { writes: number };
  return writes;
}

const say = (who: string, what: string): void => void process.stdout.write(`${who.padEnd(8)} ${what}\n`);
