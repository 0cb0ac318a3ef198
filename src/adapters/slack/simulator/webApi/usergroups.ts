import type { JsonObject } from "../message.ts";
import type { Usergroup } from "../workspace.ts";
import type { MethodDeps, Methods } from "./method.ts";
import { refusal } from "./refusal.ts";

/** `usergroups.*`: what an app reads of user groups. */
export function usergroupMethods({ workspace, now }: MethodDeps): Methods {
  const { team } = workspace;
  const describe = ({ id, handle, users, disabled }: Usergroup): JsonObject => ({
    id,
    team_id: team.id,
    is_usergroup: true,
    name: handle,
    handle,
    description: "",
    is_external: false,
    date_delete: disabled ? Math.floor(now() / 1000) : 0,
    user_count: users.length,
  });
  return {
    "usergroups.list": (args) => ({
      usergroups: workspace
        .usergroups()
        .filter(({ disabled }) => !disabled || args.flag("include_disabled"))
        .map((group) => ({ ...describe(group), ...(args.flag("include_users") && { users: [...group.users] }) })),
    }),
    "usergroups.users.list"(args) {
      const group = workspace.usergroup(args.required("usergroup"));
      if (!group || (group.disabled && !args.flag("include_disabled"))) throw refusal("no_such_subteam");
      return { users: [...group.users] };
    },
  };
}
