import type { Traffic } from "../../src/core/domain/decision.ts";
import type { Json } from "../../src/core/domain/json.ts";
import type { InvokeRequest, InvokeResult, RuntimePort } from "../../src/core/ports.ts";
import type { CrashPoints } from "./crashPoints.ts";
import type { CallFailed, HttpClient } from "./httpCall.ts";
import { TOOLS } from "./stories.ts";

const NOTHING_SENT: Traffic = { writes: [], opaque: 0 };

/**
 * The agent's tools without a child process of their own: `apply` makes a real request to the effect ledger, under the
 * decision's id and the attempt's fence, with the stored arguments as they are.
 */
export function createAgent(points: CrashPoints, http: HttpClient, ledger: string): RuntimePort {
  const keyed = (decisionId: string) => ({ "idempotency-key": decisionId });

  async function apply({ decision, input, timeoutMs }: InvokeRequest): Promise<InvokeResult> {
    const fence = points.inside()?.fence;
    const headers = {
      ...keyed(decision?.id ?? ""),
      ...(fence !== undefined && { "x-attempt": String(fence) }),
    };
    try {
      const { status, body } = await points.call("ledger.write", () =>
        http.call({ method: "POST", url: `${ledger}/orders`, headers, body: input, timeoutMs }),
      );
      const value: Json = { status, ok: status < 300, body };
      return { kind: "returned", value, traffic: { writes: [{ status }], opaque: 0 } };
    } catch (error) {
      if ((error as CallFailed).timeout) return { kind: "timedOut" };
      const traffic = { writes: [{ status: null }], opaque: 0 };
      return { kind: "threw", message: "the connection broke", notApplied: false, traffic };
    }
  }

  async function verify({ decision }: InvokeRequest): Promise<InvokeResult> {
    const headers = keyed(decision?.id ?? "");
    const { status } = await points.call(
      "ledger.read",
      () => http.call({ method: "GET", url: `${ledger}/orders`, headers }),
      () => true,
    );
    return { kind: "returned", value: { applied: status === 200 }, traffic: NOTHING_SENT };
  }

  async function invoke(request: InvokeRequest): Promise<InvokeResult> {
    switch (request.entry) {
      case "preview":
        return {
          kind: "returned",
          value: { title: "Attach a note", facts: [{ label: "Order", value: 7 }] },
          traffic: NOTHING_SENT,
        };
      case "apply":
        return apply(request);
      case "verify":
        return TOOLS[request.tool as keyof typeof TOOLS].verifies
          ? verify(request)
          : { kind: "threw", message: "no verify", notApplied: false, traffic: NOTHING_SENT };
      case "run":
        return { kind: "threw", message: "no run", notApplied: false, traffic: NOTHING_SENT };
    }
  }

  const tools = Object.entries(TOOLS).map(([name, { verifies }]) => ({
    kind: "approval" as const,
    name,
    description: "Attaches a note to an order.",
    input: { type: "object" },
    verifies,
  }));
  return {
    lease: async () => ({
      render: async () => ({
        instructions: "Be kind.",
        model: null,
        tools: [...tools, { kind: "builtin", id: "ask" }],
      }),
      invoke,
      release: async () => {},
    }),
    close: async () => {},
  };
}
