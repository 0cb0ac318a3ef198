import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { EgressError } from "./egressError.ts";

export interface AddressPolicy {
  /** Development: `localhost`, `127.0.0.0/8` and `::1` when the origin names them itself. */
  readonly allowLoopback: boolean;
  /** The operator's own network: RFC 1918, carrier-grade NAT and IPv6 unique local addresses. */
  readonly allowPrivate: boolean;
}

/** Every address of a name; injected by tests. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

export const resolveName: ResolveName = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });

type Subnet = readonly [net: string, prefix: number, family: "ipv4" | "ipv6"];

// An IPv4-mapped IPv6 address is checked against the IPv4 subnets by BlockList itself.
const LOOPBACK = listOf([
  ["127.0.0.0", 8, "ipv4"],
  ["::1", 128, "ipv6"],
]);

const PRIVATE = listOf([
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["100.64.0.0", 10, "ipv4"],
  ["fc00::", 7, "ipv6"],
]);

/**
 * Never reachable, whatever the operator allows: clouds hand out credentials on link-local addresses, and IPv6 has
 * forms that carry an IPv4 address past the lists above (NAT64, 6to4, Teredo, IPv4-compatible).
 */
const FORBIDDEN = listOf([
  ["0.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["192.0.0.0", 24, "ipv4"],
  ["192.0.2.0", 24, "ipv4"],
  ["198.18.0.0", 15, "ipv4"],
  ["198.51.100.0", 24, "ipv4"],
  ["203.0.113.0", 24, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["::", 96, "ipv6"],
  ["64:ff9b::", 96, "ipv6"],
  ["64:ff9b:1::", 48, "ipv6"],
  ["100::", 64, "ipv6"],
  ["2001::", 32, "ipv6"],
  ["2001:db8::", 32, "ipv6"],
  ["2002::", 16, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["fec0::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
]);

function listOf(subnets: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [net, prefix, family] of subnets) list.addSubnet(net, prefix, family);
  return list;
}

/** An origin that names this machine itself; a public name that resolves to it is another matter. */
export const namesLoopback = (hostname: string): boolean =>
  hostname === "localhost" || within(LOOPBACK, bare(hostname));

/** May a connection to `hostname` go to `address`? */
export function mayReach(hostname: string, address: string, policy: AddressPolicy): boolean {
  if (isIP(address) === 0) return false;
  if (within(LOOPBACK, address)) return policy.allowLoopback && namesLoopback(hostname);
  if (within(FORBIDDEN, address)) return false;
  return policy.allowPrivate || !within(PRIVATE, address);
}

/**
 * Resolves and checks in one step, for `http.request`'s `lookup`: the socket connects to the very addresses that were
 * judged, so a name that answers differently the second time gains nothing. One address that is not allowed refuses
 * the name. Node does not look up literal addresses; `checkLiteral` judges those.
 */
export function pinnedLookup(policy: AddressPolicy, resolve: ResolveName): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (!first || addresses.some(({ address }) => !mayReach(hostname, address, policy))) {
          callback(new EgressError("connection_address_refused"), "", 4);
        } else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, "", 4),
    );
  };
}

/** Throws `connection_address_refused` when the host is a literal address that may not be reached. */
export function checkLiteral(hostname: string, policy: AddressPolicy): void {
  const address = bare(hostname);
  if (isIP(address) !== 0 && !mayReach(hostname, address, policy)) throw new EgressError("connection_address_refused");
}

/** A URL writes IPv6 in brackets. */
const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

function within(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? "ipv4" : "ipv6");
}
