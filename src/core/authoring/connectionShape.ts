import type { ShapeProblem } from "./toolShape.ts";

/** The rules of a connection's declaration (B5, C2) as sentences, shared by `defineConnection` and the build. */

export const CONNECTION_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Headers that carry a credential: in source they would be readable by whoever reads the project. */
const SENSITIVE = ["authorization", "proxy-authorization", "cookie", "x-api-key"];

export function idProblem(what: string, id: unknown): ShapeProblem | null {
  if (typeof id === "string" && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(id)) return null;
  return {
    what: `the ${what} has no usable id`,
    instead: 'give it one of letters, digits, _, - and ., as in id: "billing"',
  };
}

/** `http:` is for servers on this machine and only in development, which the build decides (`allowLoopback`). */
export function originProblem(field: string, origin: unknown, allowLoopback: boolean): ShapeProblem | null {
  const instead = `write ${field}: "https://api.example.com", without a path`;
  const url = typeof origin === "string" && URL.canParse(origin) ? new URL(origin) : null;
  if (!url) return { what: `${field} is not an origin`, instead };
  if (url.username || url.password) {
    return { what: `${field} holds a credential`, instead: "put it into a header with useSecret" };
  }
  if (url.pathname !== "/" || url.search || url.hash) {
    return { what: `${field} ${JSON.stringify(origin)} has a path`, instead: "move the path to pathPrefix" };
  }
  if (url.protocol === "https:") return null;
  if (url.protocol === "http:" && isLoopback(url.hostname)) {
    if (allowLoopback) return null;
    return { what: `${field} ${url.origin} is on this machine`, instead: "use an https origin outside development" };
  }
  return { what: `${field} ${JSON.stringify(origin)} is not https`, instead };
}

const isLoopback = (hostname: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(hostname);

export function methodsProblem(methods: unknown): ShapeProblem | null {
  const known = (method: unknown) =>
    typeof method === "string" && (CONNECTION_METHODS as readonly string[]).includes(method.toUpperCase());
  if (methods === undefined || (Array.isArray(methods) && methods.length > 0 && methods.every(known))) return null;
  return { what: "methods is not a list of HTTP methods", instead: `choose from ${CONNECTION_METHODS.join(", ")}` };
}

export function pathPrefixProblem(prefix: unknown): ShapeProblem | null {
  if (prefix === undefined) return null;
  if (typeof prefix === "string" && /^\/[^?#]*$/.test(prefix) && !prefix.split("/").includes("..")) return null;
  return { what: "pathPrefix is not an absolute path", instead: 'write it as in pathPrefix: "/v1/"' };
}

export function literalHeaderProblem(name: string, value: string): ShapeProblem | null {
  if (SENSITIVE.includes(name.toLowerCase())) {
    return {
      what: `the header ${name} is a credential in source`,
      instead: `use bearer(useSecret("NAME")) or secretHeader(…)`,
    };
  }
  if (/[\r\n\0]/.test(value)) return { what: `the header ${name} has a line break`, instead: "write it on one line" };
  return null;
}

export function headerNameProblem(name: string): ShapeProblem | null {
  if (/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return null;
  return { what: `${JSON.stringify(name)} is not a header's name`, instead: "use letters, digits and -" };
}
