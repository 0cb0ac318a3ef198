import { setTimeout as sleep } from "node:timers/promises";

/** Looks every few milliseconds until `condition` holds; fails, saying what was waited for, after `withinMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what = "the condition",
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${withinMs} ms in vain for ${what}.`);
    await sleep(5);
  }
}
