import { expect, it } from "vitest";
import { createDependency, type DependencyCheck, watch } from "../../src/gateway/dependency.ts";
import { recordingLog } from "../helpers/log.ts";
import { waitUntil } from "../helpers/waitUntil.ts";

const of = (check: DependencyCheck["check"], log = recordingLog()) =>
  createDependency({ name: "queue", required: false, check }, log);

it("is told to the log when it goes and when it is back, once each, whoever notices", async () => {
  const log = recordingLog();
  let away = false;
  const queue = of(async () => {
    if (away) throw new Error("away");
  }, log);
  const watching = watch([queue], 10);
  try {
    await waitUntil(async () => (await queue.read()).state === "up", "a first look");
    away = true;
    for (let i = 0; i < 3; i++) queue.failed(new Error("let down"));
    expect(queue.isUp()).toBe(false);
    await waitUntil(async () => (await queue.read()).forMs > 1_500, "it to be seen away again");
    away = false;
    await waitUntil(() => queue.isUp(), "it to be seen back, by nobody but the watch");
  } finally {
    watching.stop();
  }
  expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
    ["warn", "a dependency does not answer"],
    ["info", "a dependency answers again"],
  ]);
});

it("is told once a minute when it comes and goes", async () => {
  const log = recordingLog();
  const queue = of(async () => {}, log);
  for (let i = 0; i < 3; i++) {
    queue.failed(new Error("OOM command not allowed"));
    await waitUntil(async () => (await queue.read()).state === "up", "it to answer");
  }
  expect(log.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
});

it("is taken to be up before anybody looked", () => {
  expect(of(async () => {}).isUp()).toBe(true);
});
