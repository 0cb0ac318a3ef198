import type { AddressInfo } from "node:net";
import { App, HTTPReceiver, LogLevel } from "@slack/bolt";
import pg from "pg";
import { serve } from "./serve.ts";

export interface BoltSettings {
  readonly signingSecret: string;
  readonly databaseUrl: string;
}

/**
 * The least a Bolt app must do to lose nothing: its own receiver, a listener that writes the event's id down, and an
 * answer after that (`processBeforeResponse`; left to itself Bolt answers first).
 */
await serve<BoltSettings>(async ({ signingSecret, databaseUrl }) => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  await pool.query("create table if not exists bolt_events (id text primary key, body json not null)");
  const receiver = new HTTPReceiver({ signingSecret, processBeforeResponse: true, logLevel: LogLevel.ERROR });
  const app = new App({
    receiver,
    authorize: async () => ({ botToken: "xoxb-bench", botUserId: "U0BENCHBOT", botId: "B0BENCHBOT" }),
    logLevel: LogLevel.ERROR,
  });
  app.event("app_mention", async ({ body }) => {
    await pool.query({
      name: "insert-event",
      text: "insert into bolt_events (id, body) values ($1, $2) on conflict do nothing",
      values: [body.event_id, JSON.stringify(body)],
    });
  });
  const server = await receiver.start({ port: 0, host: "127.0.0.1" });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/slack/events`,
    async close() {
      await receiver.stop();
      await pool.end();
    },
  };
});
