import { type Find, when } from "./find.ts";

/** Nothing waits: every approval has come to its end, every turn and message too. */
const atRest: Find = ({ stored }) => [
  ...stored.decisions
    .filter((d) => d.status === "approved" || d.status === "applying" || d.again_by !== null)
    .map((d) => `${d.id} is still ${d.status}${d.again_by ? ", to be run again" : ""}`),
  ...stored.deliveries
    .filter((d) => d.status !== "sent" && !(d.status === "dead" && d.error_code !== null))
    .map((d) => `delivery ${d.id} is still ${d.status}`),
  ...stored.turns
    .filter((turn) => turn.status === "running" || turn.status === "queued")
    .filter((turn) => !stored.questions.some((q) => q.session_id === turn.session_id && q.status === "open"))
    .map((turn) => `turn ${turn.id} is still ${turn.status}`),
];

const gapFree: Find = ({ stored }) =>
  stored.sessions.flatMap(({ id, last_seq }) => {
    const seqs = stored.events.filter((event) => event.session_id === id).map((event) => event.seq);
    return [
      ...when(
        seqs.some((seq, i) => seq !== i + 1),
        `session ${id}: the log has a gap or repeats`,
      ),
      ...when(seqs.length !== last_seq, `session ${id}: ${seqs.length} events, last_seq ${last_seq}`),
    ];
  });

/** Every call a model made has exactly one result, and has it before the model is asked again. */
const oneResultACall: Find = ({ stored }) =>
  stored.sessions.flatMap(({ id }) => {
    const wrong: string[] = [];
    let open = new Set<string>();
    const seen = new Set<string>();
    for (const { type, data } of stored.events.filter((event) => event.session_id === id)) {
      if (type === "message.completed") {
        for (const call of open) wrong.push(`session ${id}: call ${call} had no result when the model was asked again`);
        const calls = (data.calls ?? []) as { callId: string }[];
        open = new Set(calls.map((call) => call.callId));
        for (const call of open) {
          if (seen.has(call)) wrong.push(`session ${id}: call ${call} was made twice`);
          seen.add(call);
        }
      }
      if ((type === "tool.completed" || type === "tool.failed") && !open.delete(String(data.callId)))
        wrong.push(`session ${id}: a result for ${String(data.callId)}, which is not open`);
    }
    for (const call of open) wrong.push(`session ${id}: call ${call} has no result`);
    return wrong;
  });

/** One post is one turn; one that nobody acknowledged may be one or none. */
const oneTurnAPost: Find = ({ stored, said }) => {
  const posts = said.filter((word) => word.kind === "post");
  const texts = stored.turns.flatMap((turn) =>
    turn.source === "channel" && !turn.input.answer ? turn.input.text : [],
  );
  return [
    ...posts.flatMap(({ text, acknowledged }) => {
      const turns = texts.filter((one) => one === text).length;
      return when(
        turns > 1 || (acknowledged && turns === 0),
        `a post of ${text.length} characters became ${turns} turns`,
      );
    }),
    ...when(
      texts.some((text) => !posts.some((post) => post.text === text)),
      "a turn of words that nobody wrote",
    ),
  ];
};

const oneMessageADelivery: Find = ({ stored, chat }) => [
  ...stored.deliveries.flatMap(({ id, status, edits, ref }) => {
    const posted = chat.filter((message) => message.deliveryId === id);
    return [
      ...when(posted.length > 1, `delivery ${id} is ${posted.length} messages`),
      ...when(edits !== null && posted.length > 0, `delivery ${id} edits, and stands as a message of its own`),
      ...when(
        status === "sent" && edits === null && posted[0]?.ref !== ref,
        `delivery ${id} was sent, and is not where it says`,
      ),
    ];
  }),
  ...chat
    .filter((message) => !stored.deliveries.some((delivery) => delivery.id === message.deliveryId))
    .map(({ ref }) => `the message at ${ref} belongs to no delivery`),
];

const TERMINAL = { completed: "turn.completed", failed: "turn.failed", cancelled: "turn.cancelled" } as const;

/** A turn that ended says so once in the log; one that has not, not at all. */
const oneEndATurn: Find = ({ stored }) =>
  stored.turns.flatMap(({ id, status }) => {
    const ends = stored.events.filter((event) => event.turn_id === id && event.type in ENDS);
    const type = status in TERMINAL ? TERMINAL[status as keyof typeof TERMINAL] : null;
    return when(
      type === null ? ends.length > 0 : ends.length !== 1 || ends[0]?.type !== type,
      `turn ${id} is ${status}, and ended ${ends.length} times in the log`,
    );
  });

const ENDS = Object.fromEntries(Object.values(TERMINAL).map((type) => [type, true]));

export const SESSION_INVARIANTS = [
  ["I8", atRest],
  ["I9", gapFree],
  ["I10", oneResultACall],
  ["G3", oneTurnAPost],
  ["G5", oneMessageADelivery],
  ["S6", oneEndATurn],
] as const;
