import type { ChatProvider } from "../../../src/core/domain/message.ts";
import type { Directory, LookUp } from "../../../src/core/ports.ts";

interface FakeUser {
  readonly name: string;
  readonly workspaceId?: string;
  readonly active?: boolean;
}

interface FakeGroup {
  readonly name: string;
  readonly active?: boolean;
  readonly members: readonly string[];
}

export interface FakeDirectory extends Directory {
  readonly users: Map<string, FakeUser>;
  readonly groups: Map<string, FakeGroup>;
  /** What was asked, in order: `user U1`, `group S1`, `members S1`. */
  readonly asked: string[];
  /** Asked for one of these, the platform cannot say: `user`, `group`, `members S1`, … */
  readonly silent: Set<string>;
  reset(): void;
}

/** Who is who in workspace T1, in memory. */
export function createFakeDirectory(provider: ChatProvider = "slack"): FakeDirectory {
  const users = new Map<string, FakeUser>();
  const groups = new Map<string, FakeGroup>();
  const asked: string[] = [];
  const silent = new Set<string>();
  async function look<T>(kind: string, id: string, value: T | undefined): Promise<LookUp<T>> {
    asked.push(`${kind} ${id}`);
    if (silent.has(kind) || silent.has(`${kind} ${id}`)) return { found: "unknown", why: "it does not answer" };
    return value === undefined ? { found: false } : { found: true, value };
  }
  return {
    provider,
    workspaceId: "T1",
    users,
    groups,
    asked,
    silent,
    user(id) {
      const user = users.get(id);
      return look(
        "user",
        id,
        user && { name: user.name, workspaceId: user.workspaceId ?? "T1", active: user.active ?? true },
      );
    },
    group(id) {
      const group = groups.get(id);
      return look("group", id, group && { name: group.name, active: group.active ?? true });
    },
    members: (id) => look("members", id, groups.get(id)?.members),
    reset() {
      users.clear();
      groups.clear();
      silent.clear();
      asked.length = 0;
    },
  };
}
