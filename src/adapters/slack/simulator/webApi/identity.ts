import type { Member } from "../workspace.ts";
import type { MethodDeps, Methods } from "./method.ts";
import { refusal } from "./refusal.ts";

/** Who the app is, and who people are. */
export function identityMethods({ workspace, url }: MethodDeps): Methods {
  const { team } = workspace;
  return {
    "auth.test": () => ({
      url: `${url()}/`,
      team: team.name,
      team_id: team.id,
      user: team.botName,
      user_id: team.botUserId,
      bot_id: team.botId,
      is_enterprise_install: false,
    }),
    "users.info"(args) {
      const id = args.required("user");
      const bot: Member = { id: team.botUserId, name: team.botName, team: team.id, botId: team.botId };
      const member = id === bot.id ? bot : workspace.member(id);
      if (!member) throw refusal("user_not_found");
      const { name } = member;
      return {
        user: {
          id,
          team_id: member.team,
          name: name.toLowerCase(),
          real_name: name,
          deleted: member.deleted ?? false,
          is_bot: member.botId !== undefined,
          is_restricted: false,
          is_ultra_restricted: false,
          tz: "Etc/UTC",
          profile: { real_name: name, display_name: name, team: member.team },
        },
      };
    },
  };
}
