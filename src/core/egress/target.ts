import type { ConnectionManifest } from "../domain/manifest.ts";
import { type AddressPolicy, checkLiteral, namesLoopback } from "./addresses.ts";
import { EgressError } from "./egressError.ts";

/** Where a request goes, once it was judged (C2). */
interface Target {
  readonly url: URL;
  /** The connection's own origin: the only one that gets its headers. */
  readonly own: boolean;
}

/** Judges what an agent asks for, before any secret is read. Throws `EgressError`. */
export function targetOf(connection: ConnectionManifest, method: string, path: string, policy: AddressPolicy): Target {
  checkMethod(connection, method);
  const origin = new URL(connection.origin);
  checkScheme(origin, policy);
  checkPath(path);
  const url = new URL(path, origin);
  if (url.origin !== origin.origin || url.username !== "" || url.password !== "")
    throw new EgressError("connection_path_refused");
  checkPrefix(connection, url);
  checkLiteral(url.hostname, policy);
  return { url, own: true };
}

/**
 * Judges a `location`. On the connection's own origin everything holds that held for the agent: there the secret goes
 * along, and an open redirect must not lead it out of the prefix. Elsewhere the origin has to be declared.
 */
export function redirectTarget(
  connection: ConnectionManifest,
  method: string,
  from: URL,
  location: string,
  policy: AddressPolicy,
): Target {
  if (!URL.canParse(location, from.href)) throw new EgressError("connection_redirect_refused");
  const url = new URL(location, from.href);
  url.hash = "";
  if (url.username !== "" || url.password !== "") throw new EgressError("connection_redirect_refused");
  try {
    if (url.origin === new URL(connection.origin).origin) {
      return targetOf(connection, method, url.pathname + url.search, policy);
    }
    if (!connection.redirectOrigins.some((allowed) => new URL(allowed).origin === url.origin)) {
      throw new EgressError("connection_redirect_refused");
    }
    checkScheme(url, policy);
  } catch (cause) {
    throw new EgressError("connection_redirect_refused", undefined, { cause });
  }
  checkLiteral(url.hostname, policy);
  return { url, own: false };
}

function checkMethod({ methods }: ConnectionManifest, method: string): void {
  if (!/^[A-Z]+$/.test(method) || method === "CONNECT" || method === "TRACE")
    throw new EgressError("connection_method_refused");
  if (methods && !methods.some((allowed) => allowed.toUpperCase() === method))
    throw new EgressError("connection_method_refused");
}

function checkScheme(url: URL, { allowLoopback }: AddressPolicy): void {
  const secure =
    url.protocol === "https:" || (url.protocol === "http:" && allowLoopback && namesLoopback(url.hostname));
  if (!secure) throw new EgressError("connection_origin_refused");
}

/**
 * Refuses every spelling that a URL parser, a proxy or the target may read as another path: dot segments, doubled
 * slashes and backslashes, also behind up to three layers of percent-encoding, and what parsers drop in silence.
 */
function checkPath(path: string): void {
  const refused = () => new EgressError("connection_path_refused");
  if (!path.startsWith("/") || /[\0-\x1f\x7f#]/.test(path)) throw refused();
  let spelled = path.split("?", 1)[0] ?? "";
  // Also refuses what is no UTF-8, where servers differ most.
  if (!decodes(spelled)) throw refused();
  for (let layer = 0; layer < MOST_ENCODINGS; layer++) {
    // `..;` is `..` to servers that read path parameters.
    const dotted = spelled.split("/").some((segment) => /^\.{1,2}(;|$)/.test(segment));
    if (dotted || spelled.includes("//") || /[\\\0-\x1f\x7f]/.test(spelled)) throw refused();
    const decoded = spelled.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded === spelled) return;
    spelled = decoded;
  }
  throw refused();
}

/** The path as written, and what three decodings make of it; one that is encoded deeper than that hides something. */
const MOST_ENCODINGS = 4;

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function checkPrefix({ pathPrefix }: ConnectionManifest, url: URL): void {
  const prefix = (pathPrefix ?? "/").replace(/\/+$/, "");
  if (url.pathname !== prefix && !url.pathname.startsWith(`${prefix}/`))
    throw new EgressError("connection_path_refused");
}
