import { once } from "node:events";
import { createInterface } from "node:readline";
import { bundleScript, spawnScript } from "./script.ts";

/**
 * What becomes of one write besides being written down: `hang` commits and never answers, `reset` commits and cuts the
 * connection, `500` commits and answers 500, `refuse` answers 402 and does nothing.
 */
export type LedgerFault = "hang" | "reset" | "500" | "refuse";

/** One write as it arrived. */
export interface EffectCall {
  /** From 1, in the order of arrival, over all keys. */
  readonly n: number;
  /** Its Idempotency-Key: the decision's id. */
  readonly key: string | null;
  /** Its X-Attempt, where the caller names the attempt it acts for: the fence. */
  readonly attempt: string | null;
  readonly path: string;
  /** The body, byte for byte. */
  readonly args: string;
  /** Milliseconds since the epoch, of this machine's clock. */
  readonly at: number;
  /**
   * `committed`: the effect, once a key. `replayed`: the key was carried out before. `conflict`: it was used before with
   * other arguments, answered 422. `refused`: answered 402, nothing done.
   */
  readonly outcome: "committed" | "replayed" | "conflict" | "refused";
  readonly fault: LedgerFault | null;
}

export interface EffectLedger {
  readonly url: string;
  readonly pid: number;
  /** The log, oldest first. */
  calls(filter?: { readonly path?: string; readonly key?: string }): Promise<EffectCall[]>;
  /** The next write with `key` fails so; `*`: the next of any key. */
  fail(key: string, fault: LedgerFault): Promise<void>;
  close(): Promise<void>;
}

/** Starts the ledger's process; it ends with `close`, or when this process does. */
export async function startEffectLedger(): Promise<EffectLedger> {
  const script = await bundleScript("test/faults/effectLedgerProcess.ts");
  const child = spawnScript(script, ["pipe", "pipe", "inherit"]);
  const exited = once(child, "exit");
  exited.catch(() => {});
  if (!child.stdout) throw new Error("the ledger has no stdout");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    pid: child.pid ?? Number.NaN,
    async calls(filter = {}) {
      const response = await fetch(`${url}/_calls?${new URLSearchParams(filter)}`);
      return ((await response.json()) as { calls: EffectCall[] }).calls;
    },
    async fail(key, fault) {
      const response = await fetch(`${url}/_faults/${encodeURIComponent(key)}`, { method: "PUT", body: fault });
      if (!response.ok) throw new Error(`the ledger answered ${response.status}`);
    },
    async close() {
      child.stdin?.end();
      await exited;
      await script.remove();
    },
  };
}
