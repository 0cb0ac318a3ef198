import { randomBytes } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import type { Json } from "../../../core/domain/json.ts";
import { type ButtonInMessage, buttonsOf } from "./blocks/buttons.ts";
import { createChanges, type WaitOptions } from "./changes.ts";
import { type ControlDeps, controlRoutes } from "./control/routes.ts";
import { createAnnouncer, createEcho } from "./events/announce.ts";
import { createDeliveries, type Delivery, type RawOptions, type SendOptions } from "./events/delivery.ts";
import { createFaults, type Faults } from "./faults.ts";
import { createIds } from "./ids.ts";
import { Impossible } from "./impossible.ts";
import { type Log, SILENT } from "./log.ts";
import type { JsonObject, Message } from "./message.ts";
import { createNotices, type Ephemeral, type OpenView, type ThreadStatus } from "./notices.ts";
import { pageRoutes } from "./page/routes.ts";
import { createPerson, type MessageRef, type Person, type PersonDeps } from "./person.ts";
import { type ApiRequest, createRequestLog, type Violation } from "./requestLog.ts";
import { createResponseUrls } from "./responseUrls.ts";
import { createRoster, type Roster } from "./roster.ts";
import { createStateFile, type Kept, readKept } from "./stateFile.ts";
import { createTriggers } from "./triggers.ts";
import { webApiRoutes } from "./webApi/routes.ts";
import { ALL_SCOPES } from "./webApi/scopes.ts";
import { type Channel, createWorkspace, type Team, type Usergroup } from "./workspace.ts";

export type { ButtonInMessage } from "./blocks/buttons.ts";
export { createSimulatorClient, type SimulatorClient } from "./control/client.ts";
export type { Delivery } from "./events/delivery.ts";
export type { Message } from "./message.ts";
export type { MessageRef, Person } from "./person.ts";
export type { Channel, Team, Usergroup } from "./workspace.ts";

/** What Slack does with an event that is not acknowledged: at once, after a minute, after five. */
export const SLACK_RETRY_DELAYS_MS = [0, 60_000, 300_000] as const;

export interface SlackSimulatorOptions {
  /** A free one unless given. */
  readonly port?: number;
  /** Tried before `port`, for an address that stays the same from one start to the next wherever it is free. */
  readonly preferredPort?: number;
  /** Where people, channels, messages, token and secret outlive a restart; nowhere unless given. Read at once. */
  readonly stateFile?: string;
  /** `127.0.0.1` unless given. */
  readonly host?: string;
  /** Where events and clicks go; may be set later. */
  readonly eventsUrl?: string;
  /** Random unless given. */
  readonly signingSecret?: string;
  /** Random unless given. */
  readonly botToken?: string;
  /** Tells the app of its own posts, changes and deletions too, as Slack does; true unless given. */
  readonly echoOwnMessages?: boolean;
  /** `SLACK_RETRY_DELAYS_MS` to be like Slack; no retries unless given. */
  readonly retryDelaysMs?: readonly number[];
  /** 3,000 unless given. */
  readonly ackTimeoutMs?: number;
  /** What the app was granted; everything the simulator knows unless given. */
  readonly scopes?: readonly string[];
  /** There from the start; one that was kept under the same id is replaced. */
  readonly usergroups?: readonly Usergroup[];
  /** Milliseconds since the epoch, for timestamps, expiry and signatures. */
  readonly now?: () => number;
  readonly log?: Log;
}

/** A Slack of one workspace over real HTTP: its Web API, its events and clicks, and a page to watch it. */
export interface SlackSimulator {
  /** `http://127.0.0.1:PORT`; throws before `start`. */
  readonly url: string;
  /** For WebClient's `slackApiUrl`. */
  readonly apiUrl: string;
  readonly botToken: string;
  readonly signingSecret: string;
  readonly team: Team;
  /** The id of `#general`. */
  readonly general: string;
  readonly people: { readonly ada: Person; readonly bo: Person; readonly cy: Person };
  readonly faults: Faults;
  readonly roster: Roster;

  start(): Promise<void>;
  /** Ends open connections, retries and waits. */
  stop(): Promise<void>;
  setEventsUrl(url: string): void;

  /** Somebody new; of another workspace when `team` is given, another app's bot when `botId` is. */
  addPerson(person: { readonly name: string; readonly team?: string; readonly botId?: string }): Person;
  addChannel(name: string, type?: "channel" | "group"): Channel;
  /** By name, in any case, or by id. */
  person(nameOrId: string): Person;

  /** The root and its replies, oldest first. */
  thread(channel: string, rootTs: string): readonly Message[];
  messages(channel: string): readonly Message[];
  message(ref: MessageRef): Message | undefined;
  /** The buttons a message has now. */
  buttons(ref: MessageRef): readonly ButtonInMessage[];
  /** The line people see under a thread while the app works. */
  status(channel: string, threadTs: string): string | null;
  readonly ephemerals: readonly Ephemeral[];
  readonly statuses: readonly ThreadStatus[];
  readonly views: readonly OpenView[];
  readonly requests: readonly ApiRequest[];
  readonly violations: readonly Violation[];
  readonly deliveries: readonly Delivery[];
  /** Calls of a method of the Web API, failed ones included. */
  requestCount(method: string): number;

  /** Sends the same body once more, as Slack's retry `retryNum` (1 unless given). */
  redeliver(delivery: Delivery, options?: SendOptions): Promise<Delivery>;
  /** Signs and sends anything at all. */
  deliverRaw(payload: { readonly [key: string]: Json } | string, options?: RawOptions): Promise<Delivery>;

  /** Resolves as soon as a change of the simulator makes the predicate truthy. */
  waitFor<T>(predicate: () => T, options?: WaitOptions): Promise<NonNullable<T>>;
  /** Resolves when no event or click is on its way to the app. */
  settled(options?: WaitOptions): Promise<void>;
}

const TEAM: Team = {
  id: "T0SIMULATE",
  name: "Slack simulator",
  domain: "slack-simulator",
  botUserId: "U0SIMBOT01",
  botId: "B0SIMBOT01",
  appId: "A0SIMAPP01",
  botName: "countersign",
};

const GENERAL: Channel = { id: "C0GENERAL1", name: "general", type: "channel" };

export function createSlackSimulator(options: SlackSimulatorOptions = {}): SlackSimulator {
  const { host = "127.0.0.1", now = Date.now, log = SILENT } = options;
  const kept = options.stateFile === undefined ? null : readKept(options.stateFile, log);
  const signingSecret = options.signingSecret ?? kept?.signingSecret ?? randomBytes(16).toString("hex");
  const botToken = options.botToken ?? kept?.botToken ?? `xoxb-simulator-${randomBytes(12).toString("hex")}`;
  let eventsUrl = options.eventsUrl;
  let url: string | undefined;
  const baseUrl = (): string => {
    if (url === undefined) throw new Impossible("it has no address before start()");
    return url;
  };

  const ids = createIds(now, kept?.lastId);
  const changes = createChanges();
  const { stateFile: path } = options;
  const toKeep = (): Kept => ({ version: 1, botToken, signingSecret, lastId: ids.last(), ...workspace.content() });
  const stateFile = path === undefined ? null : createStateFile(path, toKeep, log);
  const changed = (): void => {
    stateFile?.changed();
    changes.notify();
  };
  const workspace = createWorkspace(TEAM, ids, { notify: changed }, kept ?? undefined);
  const notices = createNotices(changes, now);
  const requestLog = createRequestLog(changes, log);
  const faults = createFaults();
  const triggers = createTriggers(ids, now);
  const deliveries = createDeliveries(
    { changes, ids, now },
    {
      signingSecret,
      eventsUrl: () => eventsUrl,
      ackTimeoutMs: options.ackTimeoutMs ?? 3_000,
      retryDelaysMs: options.retryDelaysMs ?? [],
    },
  );
  const announcer = createAnnouncer({ workspace, deliveries, ids, now });
  const echo = createEcho(announcer, options.echoOwnMessages ?? true);
  const responseUrls = createResponseUrls({ workspace, notices, echo, log: requestLog, ids, now });

  const people = new Map<string, Person>();
  const personDeps: PersonDeps = {
    workspace,
    announcer,
    deliveries,
    notices,
    triggers,
    responseUrls,
    ids,
    url: baseUrl,
  };
  const addPerson = (member: { id: string; name: string; team?: string; botId?: string }): Person => {
    const joined = { ...member, team: member.team ?? TEAM.id };
    const dm = workspace.directChannel(member.id) ?? workspace.addMember(joined);
    const added = createPerson(joined, dm, personDeps);
    people.set(added.id, added);
    return added;
  };
  const person = (nameOrId: string): Person => {
    const found =
      people.get(nameOrId) ?? [...people.values()].find(({ name }) => name.toLowerCase() === nameOrId.toLowerCase());
    if (!found) throw new Impossible(`nobody here is called ${nameOrId}`);
    return found;
  };

  if (!workspace.channel(GENERAL.id)) workspace.addChannel(GENERAL);
  options.usergroups?.forEach(workspace.putUsergroup);
  const named = {
    ada: addPerson({ id: "U0ADA00001", name: "Ada" }),
    bo: addPerson({ id: "U0BO000001", name: "Bo" }),
    cy: addPerson({ id: "U0CY000001", name: "Cy" }),
  };
  for (const member of kept?.members ?? []) if (!people.has(member.id)) addPerson(member);

  const roster = createRoster(workspace, ids);
  const control: ControlDeps = { workspace, roster, notices, deliveries, log: requestLog, changes, person, faults };
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 1024 * 1024 });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    webApiRoutes(scope, {
      workspace,
      notices,
      triggers,
      echo,
      log: requestLog,
      ids,
      now,
      url: baseUrl,
      faults,
      responseUrls,
      botToken,
      scopes: options.scopes ?? ALL_SCOPES,
    });
  });
  app.register(async (scope) => {
    pageRoutes(scope, host);
    controlRoutes(scope, control);
  });

  return {
    get url() {
      return baseUrl();
    },
    get apiUrl() {
      return `${baseUrl()}/api/`;
    },
    botToken,
    signingSecret,
    team: TEAM,
    general: GENERAL.id,
    people: named,
    faults,
    async start() {
      await listen(app, host, options);
      const address = app.server.address();
      if (address === null || typeof address === "string") throw new Impossible("it listens on no port");
      url = `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`;
      log.info({ url }, "slack simulator: started");
    },
    async stop() {
      changes.close();
      await deliveries.close();
      await app.close();
      await stateFile?.close();
    },
    setEventsUrl(next) {
      eventsUrl = next;
    },
    addPerson: (added) => addPerson({ ...added, id: ids.next("U") }),
    addChannel: (name, type = "channel") => workspace.addChannel({ id: ids.next("C"), name, type }),
    roster,
    person,
    thread: workspace.thread,
    messages: workspace.messages,
    message: ({ channel, ts }) => workspace.message(channel, ts),
    buttons: ({ channel, ts }) => buttonsOf(workspace.message(channel, ts)?.blocks ?? []),
    status: notices.currentStatus,
    ephemerals: notices.ephemerals,
    statuses: notices.statuses,
    views: notices.views,
    requests: requestLog.requests,
    violations: requestLog.violations,
    deliveries: deliveries.all,
    requestCount: requestLog.count,
    redeliver: deliveries.again,
    deliverRaw: (payload: JsonObject | string, raw) => deliveries.raw(payload, raw),
    waitFor: changes.waitFor,
    async settled(wait) {
      await changes.waitFor(deliveries.idle, { what: "every delivery to be answered", ...wait });
    },
  };
}

async function listen(app: FastifyInstance, host: string, { port = 0, preferredPort }: SlackSimulatorOptions) {
  try {
    await app.listen({ host, port: preferredPort ?? port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (preferredPort === undefined || (code !== "EADDRINUSE" && code !== "EACCES")) throw error;
    await app.listen({ host, port });
  }
}
