import type { Traffic } from "../../../src/core/domain/decision.ts";
import type { Json } from "../../../src/core/domain/json.ts";
import type {
  InvokeRequest,
  InvokeResult,
  LeaseRequest,
  Rendered,
  RenderRequest,
  Runtime,
  RuntimePort,
} from "../../../src/core/ports.ts";

type Entry = (request: InvokeRequest) => Json | undefined | Promise<Json | undefined>;

export interface FakeTool {
  /** JSON Schema of the arguments; any object when absent. */
  readonly input?: Json;
  /** It is the agent's result tool, with this schema. */
  readonly output?: Json;
  readonly run?: Entry;
  readonly preview?: Entry;
  readonly apply?: Entry;
  readonly verify?: Entry;
}

/** Thrown by an entry of a fake tool: the call ends exactly so. */
export class EndsWith extends Error {
  readonly result: InvokeResult;
  constructor(result: InvokeResult) {
    super(result.kind);
    this.result = result;
  }
}

const NO_TRAFFIC: Traffic = { writes: [], opaque: 0 };

/** What a tool that threw would be reported as. */
export const threw = (over: Partial<Extract<InvokeResult, { kind: "threw" }>> = {}): EndsWith =>
  new EndsWith({ kind: "threw", message: "boom", notApplied: false, traffic: NO_TRAFFIC, ...over });

export interface FakeRuntime extends RuntimePort {
  /** The agent's tools by name; changes are seen by the next render. */
  readonly tools: Map<string, FakeTool>;
  readonly invokes: readonly InvokeRequest[];
  readonly renders: readonly RenderRequest[];
  /** Runtimes leased and not given back. */
  readonly leased: readonly LeaseRequest[];
  /** The next lease fails with this. */
  failLease(error: Error): void;
  /** Replaces the next render. */
  renderNext(render: (usual: Rendered) => Rendered | Promise<Rendered>): void;
  reset(): void;
}

/** Agent code as the parent sees it: renders its tools and `ask`, runs their entries, gives up when told to stop. */
export function createFakeRuntime(initial: Readonly<Record<string, FakeTool>>): FakeRuntime {
  const tools = new Map(Object.entries(initial));
  const invokes: InvokeRequest[] = [];
  const renders: RenderRequest[] = [];
  const leased: LeaseRequest[] = [];
  const leaseErrors: Error[] = [];
  const nextRenders: ((usual: Rendered) => Rendered | Promise<Rendered>)[] = [];

  const usual = (): Rendered => ({
    instructions: "Be kind.",
    model: null,
    tools: [
      ...[...tools].map(([name, tool]) => ({
        kind: tool.run ? ("run" as const) : ("approval" as const),
        name,
        description: `The tool ${name}.`,
        input: tool.input ?? { type: "object" },
        verifies: tool.verify !== undefined,
        ...(tool.output !== undefined && { result: true as const }),
      })),
      { kind: "builtin", id: "ask" },
    ],
  });

  async function invoke(request: InvokeRequest): Promise<InvokeResult> {
    invokes.push(request);
    const entry = tools.get(request.tool)?.[request.entry];
    if (!entry) return { kind: "threw", message: "no such entry", notApplied: false, traffic: NO_TRAFFIC };
    let abort = () => {};
    const stopped = new Promise<InvokeResult>((resolve) => {
      abort = () => resolve({ kind: "aborted" });
      if (request.signal.aborted) abort();
      else request.signal.addEventListener("abort", abort, { once: true });
    });
    const ended = (async (): Promise<InvokeResult> => {
      try {
        return { kind: "returned", value: (await entry(request)) ?? null, traffic: NO_TRAFFIC };
      } catch (error) {
        return error instanceof EndsWith ? error.result : threw({ message: String(error) }).result;
      }
    })();
    return Promise.race([ended, stopped]).finally(() => request.signal.removeEventListener("abort", abort));
  }

  return {
    tools,
    invokes,
    renders,
    leased,
    failLease: (error) => void leaseErrors.push(error),
    renderNext: (render) => void nextRenders.push(render),
    async lease(request) {
      const error = leaseErrors.shift();
      if (error) throw error;
      leased.push(request);
      const runtime: Runtime = {
        async render(of) {
          renders.push(of);
          const next = nextRenders.shift();
          return next ? next(usual()) : usual();
        },
        invoke,
        async release() {
          leased.splice(leased.indexOf(request), 1);
        },
      };
      return runtime;
    },
    async close() {},
    reset() {
      tools.clear();
      for (const [name, tool] of Object.entries(initial)) tools.set(name, tool);
      for (const list of [invokes, renders, leased, leaseErrors, nextRenders]) list.length = 0;
    },
  };
}
