import { expect, it } from "vitest";
import { createClosing } from "../../src/gateway/closing.ts";
import { recordingLog, silentLog } from "../helpers/log.ts";

it("stops taking everywhere at once, waits for what is under way, and only then closes, last opened first", async () => {
  const said: string[] = [];
  let finish = () => {};
  const closing = createClosing(silentLog);
  closing.push("pool", async () => void said.push("pool"));
  closing.drain("work", async () => {
    said.push("work stops");
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    said.push("work is done");
  });
  closing.push("agents", async () => void said.push("agents"));
  closing.drain("doors", async () => void said.push("doors"));
  const closed = Promise.all([closing.close(), closing.close()]);
  expect(said).toEqual(["work stops", "doors"]);
  finish();
  await closed;
  expect(said).toEqual(["work stops", "doors", "work is done", "agents", "pool"]);
});

it("goes on behind a part that does not close", async () => {
  const log = recordingLog();
  const closing = createClosing(log);
  let closed = false;
  closing.push("pool", async () => {
    closed = true;
  });
  closing.push("agents", () => Promise.reject(new Error("stuck")));
  closing.drain("doors", () => Promise.reject(new Error("stuck")));
  await closing.close();
  expect(closed).toBe(true);
  expect(log.lines.map(({ fields }) => fields)).toMatchObject([{ part: "doors" }, { part: "agents" }]);
});
