import { describe, expect, test } from "vitest";
import { createPool, type Pooled } from "../../../src/core/runtime/pool.ts";
import { waitUntil } from "../../helpers/waitUntil.ts";

const NEVER = new AbortController().signal;

class Thing implements Pooled {
  alive = true;
  reason: string | null = null;
  #tell: () => void = () => {};
  readonly gone = new Promise<void>((resolve) => {
    this.#tell = resolve;
  });

  async end(reason: string): Promise<void> {
    this.reason = reason;
    this.alive = false;
    this.#tell();
  }
}

const pool = (size: number, idleMs = 60_000) => createPool<Thing>({ size, idleMs });

describe("a pool", () => {
  test("keeps what is given back warm for its key alone", async () => {
    const things = pool(4);
    expect(await things.acquire("a", NEVER)).toBeNull();
    const thing = new Thing();
    await things.release("a", thing);
    expect(await things.acquire("b", NEVER)).toBeNull();
    expect(await things.acquire("a", NEVER)).toBe(thing);
    expect(await things.acquire("a", NEVER)).toBeNull();
  });

  test("ends the least recently used one when its place is wanted", async () => {
    const things = pool(2);
    const [older, newer] = [new Thing(), new Thing()];
    for (const key of ["older", "newer"]) await things.acquire(key, NEVER);
    await things.release("older", older);
    await things.release("newer", newer);
    expect(await things.acquire("third", NEVER)).toBeNull();
    expect([older.reason, newer.reason]).toEqual(["its place was needed", null]);
  });

  test("lets who comes when all are leased wait, oldest first", async () => {
    const things = pool(1);
    await things.acquire("a", NEVER);
    const order: string[] = [];
    const waiting = ["b", "c"].map((key) => things.acquire(key, NEVER).then(() => order.push(key)));
    await things.release("a", null);
    await waiting[0];
    expect(order).toEqual(["b"]);
    await things.release("b", null);
    await Promise.all(waiting);
    expect(order).toEqual(["b", "c"]);
  });

  test("hands over what is given back to who waits for the same key", async () => {
    const things = pool(1);
    await things.acquire("a", NEVER);
    const successor = things.acquire("a", NEVER);
    const thing = new Thing();
    await things.release("a", thing);
    expect(await successor).toBe(thing);
  });

  test("a waiter that gives up takes no slot", async () => {
    const things = pool(1);
    await things.acquire("a", NEVER);
    const stop = new AbortController();
    const given = things.acquire("b", stop.signal);
    stop.abort(new Error("given up"));
    await expect(given).rejects.toThrow("given up");
    await things.release("a", null);
    expect(await things.acquire("c", NEVER)).toBeNull();
  });

  test("what ends while idle, by itself or by its time, frees its slot", async () => {
    const things = pool(1, 10);
    await things.acquire("a", NEVER);
    const thing = new Thing();
    await things.release("a", thing);
    await waitUntil(() => thing.reason === "it was idle");
    expect(await things.acquire("b", NEVER)).toBeNull();
    const crashing = new Thing();
    await things.release("b", crashing);
    await crashing.end("it crashed");
    expect(await things.acquire("b", NEVER)).toBeNull();
  });

  test("closing ends what is idle and refuses who waits and who comes", async () => {
    const things = pool(2);
    const thing = new Thing();
    for (const key of ["a", "b"]) await things.acquire(key, NEVER);
    const waiting = things.acquire("c", NEVER);
    waiting.catch(() => {});
    const closing = things.close();
    await expect(waiting).rejects.toThrow("closed");
    await closing;
    await things.release("a", thing);
    expect(thing.reason).toBe("its place was needed");
    await expect(things.acquire("d", NEVER)).rejects.toThrow("closed");
  });
});
