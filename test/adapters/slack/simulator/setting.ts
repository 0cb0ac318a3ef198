import { type Logger, LogLevel, WebClient } from "@slack/web-api";
import {
  createSlackSimulator,
  type SlackSimulator,
  type SlackSimulatorOptions,
} from "../../../../src/adapters/slack/simulator/index.ts";
import { createReceiver, type Receiver } from "./receiver.ts";

export interface Setting {
  readonly sim: SlackSimulator;
  readonly app: Receiver;
  readonly web: WebClient;
  client(token?: string): WebClient;
  close(): Promise<void>;
}

/** A running simulator, an app that listens to it, and the real WebClient. */
export async function createSetting(options: SlackSimulatorOptions = {}): Promise<Setting> {
  const sim = createSlackSimulator({ echoOwnMessages: false, ...options });
  const app = await createReceiver(sim.signingSecret);
  sim.setEventsUrl(app.url);
  await sim.start();
  const client = (token?: string): WebClient =>
    new WebClient(token, {
      slackApiUrl: sim.apiUrl,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      logger: silent,
    });
  return {
    sim,
    app,
    client,
    web: client(sim.botToken),
    async close() {
      await sim.stop();
      await app.close();
    },
  };
}

/** WebClient writes every refusal to standard error, and here refusals are what is looked for. */
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  setLevel: () => undefined,
  getLevel: () => LogLevel.ERROR,
  setName: () => undefined,
};

/** What Slack answered, when the call failed: `data` of the error. */
// biome-ignore lint/suspicious/noExplicitAny: tests read it as a person would
export const refused = async (call: Promise<unknown>): Promise<any> =>
  call.then(
    () => {
      throw new Error("the call was not refused");
    },
    (error) => error.data ?? error,
  );

export const button = (text: string, more: object = {}) => ({
  type: "button" as const,
  text: { type: "plain_text" as const, text },
  ...more,
});

export const section = (text: string) => ({ type: "section" as const, text: { type: "mrkdwn" as const, text } });
