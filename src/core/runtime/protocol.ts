import type { Traffic } from "../domain/decision.ts";
import type { InvokeRequest, Rendered, RenderRequest } from "../ports.ts";

/**
 * What parent and child say to each other: one JSON object a line, both ways, over one socket (file descriptor 3 of
 * the child). Not Node's own IPC channel: there, a line that is not JSON is thrown inside the parent's read callback
 * and ends the parent (measured, Node 20.20), and a line without an end is buffered without a bound.
 */
export const CHANNEL_FD = 3;

/** A tool as the deployment's manifest declares it; a module that disagrees does not load (B4). */
export interface DeclaredTool {
  readonly name: string;
  readonly kind: "run" | "approval";
  readonly result: boolean;
}

export type ToChild =
  | {
      readonly type: "load";
      /** Absolute path of the agent's bundle. */
      readonly module: string;
      readonly tools: readonly DeclaredTool[];
      /** The whole of `process.env` from here on. */
      readonly env: Readonly<Record<string, string>>;
      readonly connectionsUrl: string;
    }
  | ({ readonly type: "render"; readonly id: number } & RenderRequest)
  | ({ readonly type: "invoke"; readonly id: number } & Invocation)
  | { readonly type: "cancel"; readonly id: number; readonly reason: "timedOut" | "aborted" };

export type Invocation = Pick<InvokeRequest, "tool" | "entry" | "input" | "context" | "decision">;

export type FromChild =
  | { readonly type: "ready" }
  | { readonly type: "loaded" }
  | { readonly type: "loadFailed"; readonly message: string }
  | { readonly type: "rendered"; readonly id: number; readonly rendered: Rendered }
  | { readonly type: "renderFailed"; readonly id: number; readonly message: string }
  /** `json`: the text of the value; `dropped`: how many were left out before it. */
  | { readonly type: "progress"; readonly id: number; readonly json: string; readonly dropped: number }
  | ({ readonly type: "settled" } & Settled)
  /**
   * An error that nobody caught. `failed`: the calls that it belongs to; in the same message, so that no new call
   * reaches this process in between, which is not to be used again.
   */
  | { readonly type: "harmed"; readonly message: string; readonly failed: readonly Settled[] };

export interface Settled {
  readonly id: number;
  readonly outcome: Outcome;
  readonly traffic: Traffic;
}

/** `json`: the exact text of the value, made once, so that a getter cannot answer the check and the copy differently. */
export type Outcome =
  | { readonly kind: "returned"; readonly json: string }
  | { readonly kind: "threw"; readonly message: string; readonly notApplied: boolean };

/** Lone surrogates leave as `\udXXX` escapes, so that a line is always valid UTF-8. */
export const encode = (message: ToChild | FromChild): string => `${JSON.stringify(message)}\n`;

/**
 * Cuts a byte stream into lines. `onLine` gets each without its end; once a line grows over `limit` bytes,
 * `onOverflow` is called and nothing more is read.
 */
export function lineReader(
  limit: number,
  onLine: (line: string) => void,
  onOverflow: () => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  let over = false;
  return (chunk) => {
    let rest = chunk;
    while (!over) {
      const end = rest.indexOf(10);
      const part = end < 0 ? rest : rest.subarray(0, end);
      parts.push(part);
      length += part.length;
      if (length > limit) {
        over = true;
        parts = [];
        onOverflow();
      } else if (end < 0) {
        return;
      } else {
        const line = Buffer.concat(parts, length).toString("utf8");
        parts = [];
        length = 0;
        rest = rest.subarray(end + 1);
        onLine(line);
      }
    }
  };
}
