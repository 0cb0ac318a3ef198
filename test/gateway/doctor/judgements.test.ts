import { describe, expect, it } from "vitest";
import { judgeClock, judgeDurability, judgeSchema } from "../../../src/gateway/doctor/database.ts";
import { judgeIsolation } from "../../../src/gateway/doctor/isolation.ts";
import { judgeRedis } from "../../../src/gateway/doctor/queue.ts";

describe("19 durability", () => {
  const safe = { fsync: true, synchronousCommit: "on", synchronousStandbys: "", standbys: 0 };
  it.each([
    ["one server", {}, "ok", /no standby is connected/],
    ["a standby that commits wait for", { synchronousStandbys: "ANY 1 (*)", standbys: 2 }, "ok", /for a standby/],
    ["a standby that commits do not wait for", { standbys: 1 }, "warning", /after a failover .* start twice/],
    [
      "commits that wait for the local disk alone",
      { synchronousStandbys: "a", standbys: 1, synchronousCommit: "local" },
      "warning",
      /after a failover .* start twice/,
    ],
    [
      "commits that wait for nothing",
      { synchronousCommit: "off" },
      "warning",
      /synchronous_commit is off.*set it to on/,
    ],
    ["a disk that is not waited for", { fsync: false }, "warning", /fsync is off.*turn it on/],
  ] as const)("of %s", (_, over, level, says) => {
    expect(judgeDurability({ ...safe, ...over })).toEqual({
      level,
      about: "durability",
      says: expect.stringMatching(says),
    });
  });
});

describe("20 clocks", () => {
  it.each([
    [0, "ok", /0\.0 s apart/],
    [-4_999, "ok", /5\.0 s apart/],
    [7_200_000, "warning", /7200\.0 s behind the database's/],
    [-5_100, "warning", /5\.1 s ahead of the database's/],
  ] as const)("of a database %i ms ahead", (ahead, level, says) => {
    expect(judgeClock(ahead)).toMatchObject({ level, says: expect.stringMatching(says) });
  });
});

describe("a schema", () => {
  it.each([
    [{ pending: [], newer: [] }, "ok", /Every migration has run/],
    [{ pending: ["0002_x"], newer: [] }, "warning", /0002_x; the next start does it/],
    [{ pending: [], newer: ["0009_y"] }, "problem", /newer version .*0009_y.*; run that version/],
  ] as const)("of %o", (state, level, says) => {
    expect(judgeSchema(state)).toMatchObject({ level, says: expect.stringMatching(says) });
  });
});

describe("Redis", () => {
  it.each([
    ["noeviction", ["ok"]],
    ["allkeys-lru", ["ok", "warning"]],
    [null, ["ok", "warning"]],
  ])("with maxmemory-policy %s", (maxmemoryPolicy, levels) => {
    const findings = judgeRedis({ version: "7.2.4", maxmemoryPolicy });
    expect(findings.map(({ level }) => level)).toEqual(levels);
    if (levels.length > 1) expect(findings.at(-1)?.says).toMatch(/noeviction/);
  });
});

describe("C1 a host without namespaces", () => {
  it.each([
    [true, "problem"],
    [false, "warning"],
  ])("in production: %s", (production, level) => {
    const found = judgeIsolation({ kind: "none", reason: "unshare: Operation not permitted" }, production);
    expect(found).toMatchObject({ level, says: expect.stringContaining("COUNTERSIGN_RUNTIME=process") });
  });
});
