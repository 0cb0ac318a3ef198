import { randomBytes } from "node:crypto";
import { readFileSync, renameSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Log } from "./log.ts";
import type { WorkspaceContent } from "./workspace.ts";

/** What a simulator remembers from one start to the next. Screens, deliveries and the log of calls are made anew. */
export interface Kept extends WorkspaceContent {
  readonly version: 1;
  readonly botToken: string;
  readonly signingSecret: string;
  /** Of `Ids`: a clock that was set back must not give an id again. */
  readonly lastId: number;
}

const Text = Type.String();
const Maybe = Type.Optional(Text);
const Fields = Type.Record(Text, Type.Unknown());

const MessageShape = Type.Object({
  channel: Text,
  ts: Text,
  threadTs: Maybe,
  user: Text,
  team: Text,
  botId: Maybe,
  appId: Maybe,
  subtype: Maybe,
  text: Text,
  blocks: Type.Array(Fields),
  metadata: Type.Optional(Fields),
  edited: Type.Optional(Type.Object({ user: Text, ts: Text })),
  clientMsgId: Maybe,
  reactions: Type.Array(Type.Object({ name: Text, users: Type.Array(Text) })),
});

const KeptShape = Type.Unsafe<Kept>(
  Type.Object({
    version: Type.Literal(1),
    botToken: Text,
    signingSecret: Text,
    lastId: Type.Number(),
    members: Type.Array(
      Type.Object({ id: Text, name: Text, team: Text, botId: Maybe, deleted: Type.Optional(Type.Boolean()) }),
    ),
    channels: Type.Array(
      Type.Object({
        id: Text,
        name: Text,
        type: Type.Union((["channel", "group", "im"] as const).map((type) => Type.Literal(type))),
        user: Maybe,
      }),
    ),
    messages: Type.Array(MessageShape),
    // Not in the files of older versions.
    usergroups: Type.Optional(
      Type.Array(Type.Object({ id: Text, handle: Text, users: Type.Array(Text), disabled: Type.Boolean() })),
    ),
  }),
);

/** Null where nothing was kept. A file that cannot be understood is set aside, said so, and counts as nothing. */
export function readKept(path: string, log: Log): Kept | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  const kept = parse(text);
  if (Value.Check(KeptShape, kept) && isWhole(kept)) return kept;
  const aside = `${path}.damaged`;
  renameSync(path, aside);
  log.warn({ path, aside }, "slack simulator: its state file is damaged and was set aside; it starts with nothing");
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isWhole = ({ channels, messages }: Kept): boolean => {
  const known = new Set(channels.map(({ id }) => id));
  return messages.every(({ channel }) => known.has(channel));
};

export interface StateFile {
  /** Something to keep changed: it is written soon. */
  changed(): void;
  /** Resolves when everything that changed is written. */
  close(): Promise<void>;
}

/** What a kill -9 may lose: long enough to take a burst of posts together. */
const WRITE_EVERY_MS = 100;
/** A workspace of many thousand messages takes long to write; it must not keep the process from its work. */
const REST_PER_WRITE = 10;

/** Keeps `state()` in a file, whole at every moment: written beside it and put in its place. */
export function createStateFile(path: string, state: () => Kept, log: Log): StateFile {
  let timer: NodeJS.Timeout | undefined;
  let dirty = false;
  let writing: Promise<void> = Promise.resolve();
  let pauseMs = WRITE_EVERY_MS;

  async function write(): Promise<void> {
    dirty = false;
    const started = performance.now();
    const draft = `${path}.${randomBytes(6).toString("hex")}`;
    try {
      await mkdir(dirname(path), { recursive: true });
      // For its owner alone: it holds the token and the secret.
      await writeFile(draft, JSON.stringify(state()), { mode: 0o600 });
      await rename(draft, path);
    } catch (err) {
      log.warn({ err, path }, "slack simulator: its state was not written; the next change tries again");
      await rm(draft, { force: true }).catch(() => undefined);
    }
    pauseMs = Math.max(WRITE_EVERY_MS, REST_PER_WRITE * (performance.now() - started));
  }

  async function writeSoon(): Promise<void> {
    writing = write();
    await writing;
    timer = undefined;
    if (dirty) changed();
  }

  function changed(): void {
    dirty = true;
    timer ??= setTimeout(writeSoon, pauseMs);
  }

  return {
    changed,
    async close() {
      clearTimeout(timer);
      await writing;
      clearTimeout(timer);
      if (dirty) await write();
    },
  };
}
