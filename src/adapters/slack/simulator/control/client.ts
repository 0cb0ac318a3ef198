import type { Usergroup } from "../workspace.ts";
import type {
  AddUsergroupRequest,
  ChangeUsergroupRequest,
  ClickRequest,
  DirectRequest,
  FaultRequest,
  RedeliverRequest,
  ReplyRequest,
  SayRequest,
  SubmitRequest,
} from "./routes.ts";
import type { DeliveryState, SimulatorState, ThreadState } from "./state.ts";

export interface PostedState {
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
  readonly deliveries: readonly DeliveryState[];
}

/** Drives a simulator that runs in another process. Rejects with the simulator's own words when it refuses. */
export interface SimulatorClient {
  say(request: SayRequest): Promise<PostedState>;
  mention(request: SayRequest): Promise<PostedState>;
  reply(request: ReplyRequest): Promise<PostedState>;
  dm(request: DirectRequest): Promise<PostedState>;
  click(request: ClickRequest): Promise<DeliveryState>;
  submit(request: SubmitRequest): Promise<DeliveryState>;
  redeliver(request?: RedeliverRequest): Promise<DeliveryState>;
  /** A user group of these people, each by name or id. */
  addUsergroup(request: AddUsergroupRequest): Promise<Usergroup>;
  changeUsergroup(request: ChangeUsergroupRequest): Promise<Usergroup>;
  deactivate(person: string): Promise<void>;
  /** Lets a call of the Web API go wrong. */
  fail(request: FaultRequest): Promise<void>;
  state(): Promise<SimulatorState>;
  /** Undefined when there is no such thread among those the state shows. */
  thread(channel: string, ts: string): Promise<ThreadState | undefined>;
  /**
   * Resolves with the predicate's value as soon as the state makes it truthy; is told of changes, does not poll.
   * Rejects after `timeoutMs` (30,000 unless given).
   */
  waitFor<T>(
    predicate: (state: SimulatorState) => T,
    options?: { timeoutMs?: number; what?: string },
  ): Promise<NonNullable<T>>;
}

/** `url` is the simulator's, `http://127.0.0.1:PORT`. */
export function createSimulatorClient(url: string): SimulatorClient {
  const post = <Answer>(path: string, body: object): Promise<Answer> =>
    request(`${url}/simulator/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const state = (after?: number, signal?: AbortSignal): Promise<SimulatorState> =>
    request(`${url}/simulator/state${after === undefined ? "" : `?after=${after}`}`, signal ? { signal } : {});

  return {
    say: (body) => post("say", body),
    mention: (body) => post("mention", body),
    reply: (body) => post("reply", body),
    dm: (body) => post("dm", body),
    click: (body) => post("click", body),
    submit: (body) => post("submit", body),
    redeliver: (body = {}) => post("redeliver", body),
    addUsergroup: (body) => post("usergroups", body),
    changeUsergroup: (body) => post("usergroups/change", body),
    deactivate: async (person) => void (await post("deactivate", { person })),
    fail: async (body) => void (await post("faults", body)),
    state: () => state(),
    thread: async (channel, ts) =>
      (await state()).threads.find((thread) => thread.channel === channel && thread.ts === ts),
    async waitFor<T>(
      predicate: (state: SimulatorState) => T,
      { timeoutMs = 30_000, what = predicate.toString() }: { timeoutMs?: number; what?: string } = {},
    ) {
      const signal = AbortSignal.timeout(timeoutMs);
      let revision: number | undefined;
      for (;;) {
        const current = await state(revision, signal).catch((cause: unknown) => {
          if (!signal.aborted) throw cause;
          throw new Error(`Slack simulator: not within ${timeoutMs} ms: ${what}`, { cause });
        });
        const value = predicate(current);
        if (value) return value;
        revision = current.revision;
      }
    },
  };
}

async function request<Answer>(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  const answer = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${answer}`);
  return JSON.parse(answer);
}
