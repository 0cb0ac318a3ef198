import type { IncomingHttpHeaders } from "node:http";
import { isCode } from "../domain/errors.ts";
import type { ConnectionManifest } from "../domain/manifest.ts";
import { EgressError } from "./egressError.ts";

/** Reads a stored secret; null when it is not set. The only way a secret enters this folder. */
export type ReadSecret = (name: string, scope?: string) => Promise<string | null>;

/** They belong to one connection between two machines, and there are two here. */
const HOP_BY_HOP = ["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length"];

/** What an agent may not say to a target; what identifies anybody comes from the connection's declaration. */
const NOT_THE_AGENTS = new Set([...HOP_BY_HOP, "host", "expect", "authorization", "cookie", "accept-encoding"]);

/** What a target may not say to an agent; the last is ours, and tells our own answers from the target's. */
const NOT_THE_TARGETS = new Set([...HOP_BY_HOP, "set-cookie", "x-countersign-error"]);

/** The agent's headers without those that are not its to send and those the connection makes itself. */
export function agentHeaders(
  asked: Readonly<Record<string, string>>,
  connection: ConnectionManifest,
): Record<string, string> {
  const declared = new Set(connection.headers.map(({ name }) => name.toLowerCase()));
  const kept = Object.entries(asked)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !NOT_THE_AGENTS.has(name) && !name.startsWith("proxy-") && !declared.has(name));
  if (kept.some(([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !isHeaderValue(value))) {
    throw new EgressError("connection_bad_request");
  }
  // The answer passes through as it came; compressed, 5 MiB could unfold to anything in the agent's process.
  return { ...Object.fromEntries(kept), "accept-encoding": "identity" };
}

/** Opens the connection's secrets; to be called after every check (C2), and kept no longer than the request. */
export async function connectionHeaders(
  connection: ConnectionManifest,
  readSecret: ReadSecret,
): Promise<Record<string, string>> {
  const made = await Promise.all(
    connection.headers.map(async (header) => {
      if ("literal" in header) return [header.name.toLowerCase(), header.literal] as const;
      const secret = await readSecret(header.secret, header.scope).catch((error: unknown) => {
        // Its sentence says what to do about the key; anything else is not for an agent to read.
        throw isCode(error, "config_invalid") ? new EgressError("connection_secret_invalid", error.message) : error;
      });
      if (secret === null) {
        const sentence = `The secret ${header.secret} is not set; set it with \`countersign secrets set ${header.secret}\`.`;
        throw new EgressError("connection_secret_missing", sentence);
      }
      const value = header.prefix + secret + header.suffix;
      if (!isHeaderValue(value)) {
        throw new EgressError(
          "connection_secret_invalid",
          `The secret ${header.secret} cannot stand in a header; set it again.`,
        );
      }
      return [header.name.toLowerCase(), value] as const;
    }),
  );
  return Object.fromEntries(made);
}

/** The target's headers as the agent gets them. */
export function answerHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !NOT_THE_TARGETS.has(name) && !name.startsWith("proxy-")) kept[name] = value;
  }
  return kept;
}

/** What Node sends without throwing; its own error would quote the header. */
const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
