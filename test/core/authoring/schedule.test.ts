import { expect, test } from "vitest";
import {
  defineChannel,
  defineMcpServer,
  defineSchedule,
  registerChannel,
  type ScheduleInput,
} from "../../../src/core/authoring/index.ts";

const DAILY: ScheduleInput = { id: "daily", cron: "0 9 * * 1-5", dispatch: { text: "Good morning" } };

test("B5 a schedule has UTC, production and skip where nothing else is said", () => {
  expect(defineSchedule(DAILY)).toMatchObject({
    kind: "schedule",
    id: "daily",
    timezone: "UTC",
    enabled: ["production"],
    overlap: "skip",
  });
});

test.each(["* * * * *", "*/5 0-6,22 1 jan-mar SUN", "0 0 31 12 7", "1-10/2 * * * mon-fri"])(
  "B5 accepts the cron %s",
  (cron) => {
    expect(defineSchedule({ ...DAILY, cron }).cron).toBe(cron);
  },
);

test.each([
  "* * * *",
  "* * * * * *",
  "60 * * * *",
  "* 24 * * *",
  "* * 0 * *",
  "* * * 13 *",
  "* * * * 8",
  "5-1 * * * *",
  "*/0 * * * *",
  "@daily",
  "1,,2 * * * *",
])("B5 refuses the cron %s", (cron) => {
  expect(() => defineSchedule({ ...DAILY, cron })).toThrow(/^defineSchedule "daily": cron/);
});

test.each([
  ["an unknown zone", { timezone: "Mars/Olympus" }, 'timezone "Mars/Olympus" is not an IANA zone'],
  ["another overlap", { overlap: "queue" }, 'overlap is neither "skip" nor "allow"'],
  ["nothing to dispatch", { dispatch: {} }, "dispatch has neither text nor payload"],
  ["a payload over 32 KiB", { dispatch: { payload: "é".repeat(16_384) } }, "over 32 KiB"],
])("B5 refuses %s", (_title, change, message) => {
  expect(() => defineSchedule({ ...DAILY, ...change } as ScheduleInput)).toThrow(message);
});

test("C6 an MCP server is reached over https", () => {
  expect(defineMcpServer({ id: "m", url: "https://m.example/mcp" })).toMatchObject({
    kind: "mcp",
    id: "m",
    url: "https://m.example/mcp",
  });
  expect(() => defineMcpServer({ id: "m", url: "http://m.example" })).toThrow("url is not an https address");
});

test("declarations of chat are accepted, and checked for their outer shape", () => {
  const channel = defineChannel({ id: "team", provider: "slack" });
  expect(registerChannel(channel, { on: ["mention"] })).toMatchObject({
    channel: { kind: "channel" },
    options: { on: ["mention"] },
  });
  expect(() => registerChannel({} as typeof channel)).toThrow("registerChannel takes what defineChannel returns");
});
