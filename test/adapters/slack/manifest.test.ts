import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EVENTS_PATH, slackManifest } from "../../../src/adapters/slack/manifest.ts";
import { packageRoot } from "../../../src/core/packageRoot.ts";

const manifest = slackManifest("https://countersign.example.com");
const scopes = manifest.oauth_config?.scopes?.bot ?? [];
const events = manifest.settings?.event_subscriptions?.bot_events ?? [];

describe("the app's manifest", () => {
  test("manifests/slack.json is what `countersign slack manifest --url https://countersign.example.com` prints", () => {
    expect(JSON.parse(readFileSync(join(packageRoot(), "manifests/slack.json"), "utf8"))).toEqual(manifest);
  });

  test("keeps Slack's limits", () => {
    const { name, description = "", long_description } = manifest.display_information;
    expect(name.length).toBeLessThanOrEqual(35);
    expect(description.length).toBeLessThanOrEqual(140);
    // Between 175 and 4,000, or none.
    expect(long_description).toBeUndefined();
    expect(manifest.features?.bot_user?.display_name.length).toBeLessThanOrEqual(80);
    expect(events.length).toBeLessThanOrEqual(100);
    expect(scopes.length).toBeLessThanOrEqual(255);
    for (const list of [events, scopes]) expect(new Set(list).size).toBe(list.length);
  });

  test("sends events and clicks to the one address that the receiver serves, over HTTP", () => {
    const { event_subscriptions, interactivity, socket_mode_enabled } = manifest.settings ?? {};
    expect(event_subscriptions?.request_url).toBe(`https://countersign.example.com${EVENTS_PATH}`);
    expect(interactivity).toEqual({ is_enabled: true, request_url: event_subscriptions?.request_url });
    expect(socket_mode_enabled).toBe(false);
  });

  test("asks for what its events and calls need, and for nothing else", () => {
    const needs = {
      app_mention: "app_mentions:read",
      "message.channels": "channels:history",
      "message.groups": "groups:history",
      "message.mpim": "mpim:history",
      "message.im": "im:history",
    };
    expect([...events].sort()).toEqual(Object.keys(needs).sort());
    const deciders = ["users:read", "usergroups:read"];
    expect([...scopes].sort()).toEqual([...Object.values(needs), "chat:write", ...deciders].sort());
  });
});
