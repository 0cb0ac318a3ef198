import { createHmac, randomUUID } from "node:crypto";

export interface SignedEvent {
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Makes signed Events API requests as Slack sends them, each a post of its own. */
export function createSlackEvents(signingSecret: string, team: { id: string; botUserId: string; appId: string }) {
  const startedAt = Math.floor(Date.now() / 1000);
  let made = 0;
  const nextTs = (): string => `${startedAt}.${String(++made).padStart(6, "0")}`;

  function sign(event: object): SignedEvent {
    const body = JSON.stringify({
      token: "verification",
      team_id: team.id,
      context_team_id: team.id,
      context_enterprise_id: null,
      api_app_id: team.appId,
      event: { team: team.id, channel: "C0GENERAL1", client_msg_id: randomUUID(), ...event },
      type: "event_callback",
      event_id: `Ev${startedAt}${++made}`,
      event_time: startedAt,
      authorizations: [
        { enterprise_id: null, team_id: team.id, user_id: team.botUserId, is_bot: true, is_enterprise_install: false },
      ],
      is_ext_shared_channel: false,
      event_context: `4-${made}`,
    });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", signingSecret).update(`v0:${timestamp}:${body}`).digest("hex");
    return {
      body,
      headers: {
        "content-type": "application/json",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": `v0=${signature}`,
      },
    };
  }

  const text = `<@${team.botUserId}> where is the order that was promised for Tuesday, and who has it?`;
  return {
    /** A mention that opens a thread, and the `message` event Slack sends for the same post. */
    mention(): { ts: string; mention: SignedEvent; message: SignedEvent } {
      const ts = nextTs();
      const post = { user: "U0ADA00001", text, ts, event_ts: ts };
      return {
        ts,
        mention: sign({ type: "app_mention", ...post }),
        message: sign({ type: "message", channel_type: "channel", ...post }),
      };
    },
    /** A post in the thread of `root`, by the same person, without a mention. */
    followUp(root: string): SignedEvent {
      const ts = nextTs();
      const said = { user: "U0ADA00001", text: "It was number 42.", ts, event_ts: ts, thread_ts: root };
      return sign({ type: "message", channel_type: "channel", ...said });
    },
  };
}
