import { describe, expect, it } from "vitest";
import { mayReach, pinnedLookup } from "../../../src/core/egress/addresses.ts";

const STRICT = { allowLoopback: false, allowPrivate: false };
const HOME = { allowLoopback: false, allowPrivate: true };
const DEVELOPMENT = { allowLoopback: true, allowPrivate: false };

describe("C2 addresses", () => {
  it.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"])(
    "C2 %s is public",
    (address) => {
      expect(mayReach("a.example", address, STRICT)).toBe(true);
    },
  );

  it.each(["10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd12::1", "::ffff:192.168.0.1"])(
    "C2 %s is the operator's to allow",
    (address) => {
      expect(mayReach("a.example", address, STRICT)).toBe(false);
      expect(mayReach("a.example", address, DEVELOPMENT)).toBe(false);
      expect(mayReach("a.example", address, HOME)).toBe(true);
    },
  );

  it.each(["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])(
    "C2 %s only for an origin that names it, in development",
    (address) => {
      expect(mayReach("localhost", address, STRICT)).toBe(false);
      expect(mayReach("localhost", address, HOME)).toBe(false);
      expect(mayReach("127.0.0.1", address, DEVELOPMENT)).toBe(true);
      expect(mayReach("rebound.example", address, DEVELOPMENT)).toBe(false);
    },
  );

  it.each([
    "0.0.0.0",
    "169.254.169.254",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::127.0.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "ff02::1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "::ffff:169.254.169.254",
    "nonsense",
    "",
  ])("C2 %j is never reached", (address) => {
    for (const policy of [STRICT, HOME, DEVELOPMENT]) expect(mayReach("a.example", address, policy)).toBe(false);
  });

  const looked = (addresses: string[]) =>
    new Promise<unknown>((resolve) => {
      const lookup = pinnedLookup(STRICT, async () =>
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
      lookup("a.example", { all: true }, (error, found) => resolve(error?.message ?? found));
    });

  it("C2 a name is refused when any of its addresses is, and when it has none", async () => {
    expect(await looked(["8.8.8.8", "1.1.1.1"])).toEqual([
      { address: "8.8.8.8", family: 4 },
      { address: "1.1.1.1", family: 4 },
    ]);
    expect(await looked(["8.8.8.8", "10.0.0.1"])).toMatch(/private/);
    expect(await looked([])).toMatch(/private/);
  });
});
