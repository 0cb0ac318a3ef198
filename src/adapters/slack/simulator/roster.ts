import type { Ids } from "./ids.ts";
import { Impossible } from "./impossible.ts";
import type { Usergroup, UsergroupChange, Workspace } from "./workspace.ts";

/** What an administrator of the workspace does. Throws `Impossible` for ids that are not here. */
export interface Roster {
  /** A user group of these people, by their ids. */
  addUsergroup(handle: string, users: readonly string[]): Usergroup;
  /** Other members, or disabled, or enabled again. */
  changeUsergroup(id: string, change: UsergroupChange): Usergroup;
  /** Their account is closed; what they clicked before may still arrive. */
  deactivate(user: string): void;
}

export function createRoster(workspace: Workspace, ids: Ids): Roster {
  const put = (group: Usergroup): Usergroup => {
    workspace.putUsergroup(group);
    return group;
  };
  return {
    addUsergroup: (handle, users) => put({ id: ids.next("S"), handle, users, disabled: false }),
    changeUsergroup(id, change) {
      const group = workspace.usergroup(id);
      if (!group) throw new Impossible(`there is no user group ${id}`);
      return put({ ...group, ...change });
    },
    deactivate(user) {
      const member = workspace.member(user);
      if (!member) throw new Impossible(`nobody here has the id ${user}`);
      workspace.changeMember({ ...member, deleted: true });
    },
  };
}
