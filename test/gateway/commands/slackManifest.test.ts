import { afterEach, beforeEach, expect, it, type MockInstance, vi } from "vitest";
import { slackManifest } from "../../../src/adapters/slack/manifest.ts";
import { printSlackManifest } from "../../../src/gateway/commands/slackManifest.ts";

let output: MockInstance<typeof process.stdout.write>;
beforeEach(() => {
  output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
});
afterEach(() => vi.restoreAllMocks());

it.each([
  ["--url", { url: "https://bot.example/" }, { PUBLIC_URL: "https://other.example" }, "https://bot.example"],
  ["PUBLIC_URL", {}, { PUBLIC_URL: "https://bot.example:8443/below/" }, "https://bot.example:8443/below"],
])("prints the manifest for the address of %s", (_, flags, environment, url) => {
  printSlackManifest(flags, environment);
  expect(JSON.parse(output.mock.calls.join(""))).toEqual(slackManifest(url));
});

it.each(["", "bot.example", "http://bot.example", "https://a:b@bot.example", "https://bot.example/?team=1"])(
  "refuses %j, to which Slack would not send",
  (url) => {
    expect(() => printSlackManifest({ url }, {})).toThrow("pass --url https://…, or set PUBLIC_URL");
    expect(output).not.toHaveBeenCalled();
  },
);
