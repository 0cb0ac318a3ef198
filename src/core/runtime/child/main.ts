import { dirname } from "node:path";
import type { ToChild } from "../protocol.ts";
import { type Agent, loadAgent } from "./agent.ts";
import { openChannel } from "./channel.ts";
import { messageOf } from "./failure.ts";
import { installHooks } from "./hooks.ts";
import { watchHttp } from "./httpTraffic.ts";
import { createInvoker } from "./invoke.ts";
import { watchOpaque } from "./opaqueTraffic.ts";
import { renderAgent } from "./render.ts";
import { createAttribution } from "./traffic.ts";

/** The process that agent code runs in: one deployment's agent, one session, no secret. */
let agent: Agent | null = null;
let folder = "";

const withHooks = installHooks();
const attribution = createAttribution();
const opaque = watchOpaque(attribution);
const channel = openChannel(receive);
const { send, sendLast } = channel;
const invoker = createInvoker({ agent: () => agent, attribution, opaque, send, sendLast });

// Unhandled rejections come here, too. The calls they belong to fail (T12); the process is replaced.
process.on("uncaughtException", (error) => {
  sendLast({ type: "harmed", message: messageOf(error, folder), failed: invoker.fail(error) });
});
send({ type: "ready" });

function receive(message: ToChild): void {
  switch (message.type) {
    case "load":
      void load(message);
      break;
    case "render":
      render(message);
      break;
    case "invoke":
      invoker.invoke(message.id, message);
      break;
    case "cancel":
      invoker.cancel(message.id, message.reason);
  }
}

async function load({ module, tools, env, connectionsUrl }: Extract<ToChild, { type: "load" }>): Promise<void> {
  folder = dirname(module);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  watchHttp(attribution, new URL(connectionsUrl).origin, opaque.claim);
  try {
    agent = await loadAgent(module, tools);
    send({ type: "loaded" });
  } catch (error) {
    send({ type: "loadFailed", message: messageOf(error, folder) });
  }
}

function render({ id, input, sessionData }: Extract<ToChild, { type: "render" }>): void {
  try {
    if (!agent) throw new Error("The agent is not loaded.");
    send({ type: "rendered", id, rendered: renderAgent(agent, { input, sessionData }, withHooks) });
  } catch (error) {
    send({ type: "renderFailed", id, message: messageOf(error, folder) });
  }
}
