import {
  headerNameProblem,
  idProblem,
  literalHeaderProblem,
  methodsProblem,
  originProblem,
  pathPrefixProblem,
} from "./connectionShape.ts";
import type { ResourceReference } from "./data.ts";
import { type EgressRequest, type EgressResponse, send } from "./egress.ts";
import type { GitHubApp } from "./githubApp.ts";
import { mark } from "./mark.ts";
import type { SecretHeader, SecretReference } from "./secret.ts";
import type { ShapeProblem } from "./toolShape.ts";

export interface ConnectionReference extends ResourceReference {
  readonly kind: "connection";
}

/** One HTTP service the agent may call, with what the gateway adds to each request. */
export interface HttpConnectionInput {
  readonly id: string;
  /** `https://host[:port]`, without a path. */
  readonly origin: string;
  /** Absent: any method. */
  readonly methods?: readonly string[];
  /** Requests stay below it. */
  readonly pathPrefix?: string;
  readonly headers?: Readonly<Record<string, string | SecretHeader | SecretReference>>;
  /** Where a redirect may lead besides the origin itself. */
  readonly redirectOrigins?: readonly string[];
  readonly provider?: never;
}

/** A managed connection: the session's commands get its short-lived credential in their environment. */
export interface ManagedConnectionInput {
  readonly id: string;
  readonly provider: GitHubApp;
  readonly origin?: never;
}

export type ConnectionInput = HttpConnectionInput | ManagedConnectionInput;

export interface ConnectionDefinition extends ConnectionReference {
  readonly origin?: string;
  readonly methods?: readonly string[];
  readonly pathPrefix?: string;
  readonly headers?: Readonly<Record<string, string | SecretHeader | SecretReference>>;
  readonly redirectOrigins?: readonly string[];
  readonly provider?: GitHubApp;
  /**
   * Sends a request to an absolute path of the connection. Resolves with the target's response whatever its status;
   * rejects with `EgressError` when the gateway refused it or the target did not answer.
   */
  fetch(path: string, init?: EgressRequest): Promise<EgressResponse>;
}

export function defineConnection(input: ConnectionInput): ConnectionDefinition {
  refuse(input.id, idProblem("connection", input.id));
  if (input.provider !== undefined) {
    const { id, provider } = input;
    return mark("connection", { kind: "connection" as const, id, provider, fetch: noFetch(id) });
  }
  check(input);
  const { id, methods, pathPrefix, headers, redirectOrigins } = input;
  return mark("connection", {
    kind: "connection" as const,
    id,
    origin: new URL(input.origin).origin,
    ...(methods ? { methods: Object.freeze(methods.map((method) => method.toUpperCase())) } : {}),
    ...(pathPrefix === undefined ? {} : { pathPrefix }),
    headers: Object.freeze({ ...headers }),
    ...(redirectOrigins ? { redirectOrigins: Object.freeze([...redirectOrigins]) } : {}),
    fetch: (path: string, init: EgressRequest = {}) => send(id, path, init),
  });
}

/** Names a connection that is declared elsewhere. */
export function connection(id: string): ConnectionReference {
  refuse(id, idProblem("connection", id));
  return Object.freeze({ kind: "connection", id });
}

const noFetch = (id: string) => async (): Promise<never> => {
  throw new Error(
    `${id} is a managed connection: its credential is in the environment of commands, so use git or gh instead of fetch.`,
  );
};

function check(input: HttpConnectionInput): void {
  refuse(input.id, originProblem("origin", input.origin, true));
  refuse(input.id, methodsProblem(input.methods));
  refuse(input.id, pathPrefixProblem(input.pathPrefix));
  for (const origin of input.redirectOrigins ?? []) refuse(input.id, originProblem("redirectOrigins", origin, true));
  for (const [name, value] of Object.entries(input.headers ?? {})) {
    refuse(input.id, headerNameProblem(name));
    if (typeof value === "string") refuse(input.id, literalHeaderProblem(name, value));
  }
}

function refuse(id: unknown, problem: ShapeProblem | null): void {
  if (problem) throw new TypeError(`defineConnection ${JSON.stringify(id)}: ${problem.what}; ${problem.instead}.`);
}
