import { digest } from "../../src/core/digest.ts";
import { mayDecide, type Right } from "../../src/core/domain/deciders.ts";
import type { EffectCall } from "./effectLedger.ts";
import { type Find, when } from "./find.ts";
import type { History, Posted, Said } from "./history.ts";

type Decision = History["stored"]["decisions"][number];
type Event = History["stored"]["events"][number];

const eachDecision =
  (find: (decision: Decision, history: History) => string[]): Find =>
  (history) =>
    history.stored.decisions.flatMap((decision) => find(decision, history));

const eventsOf = ({ stored }: History, { id }: Decision): Event[] =>
  stored.events.filter((event) => event.data.decisionId === id);
const approvedEvent = (history: History, decision: Decision): Event | undefined =>
  eventsOf(history, decision).find((event) => event.type === "approval.approved");
const effectsOf = ({ effects }: History, { id }: Decision): EffectCall[] => effects.filter((call) => call.key === id);
const attemptsOf = ({ stored }: History, { id }: Decision) => stored.attempts.filter((a) => a.decision_id === id);
const wordsOn = ({ said }: History, { id }: Decision) =>
  said.filter((word): word is Said & { kind: "decide" } => word.kind === "decide" && word.decisionId === id);
const carriedOut = (call: EffectCall): boolean => call.outcome === "committed" || call.outcome === "replayed";
const count = (events: readonly Event[], ...types: readonly Event["type"][]): number =>
  events.filter((event) => types.includes(event.type)).length;

type PostedCard = Posted & { readonly message: Extract<Posted["message"], { kind: "card" }> };
const cardsOf = ({ chat }: History, { id }: Decision): PostedCard[] =>
  chat.filter(
    (posted): posted is PostedCard => posted.message.kind === "card" && posted.message.card.decisionId === id,
  );

/** At most one decision per proposal, and the log agrees with the row. */
const oneDecision = eachDecision((decision, history) => {
  const events = eventsOf(history, decision);
  const decided = count(events, "approval.approved", "approval.rejected", "approval.expired");
  const expected = decision.status === "pending" ? 0 : 1;
  const agrees = { pending: null, rejected: "approval.rejected", expired: "approval.expired" } as const;
  const type =
    decision.status in agrees ? agrees[decision.status as keyof typeof agrees] : ("approval.approved" as const);
  return [
    ...when(decided !== expected, `${decision.id} is ${decision.status} and was decided ${decided} times`),
    ...when(type !== null && count(events, type) !== 1, `${decision.id} is ${decision.status} without ${type}`),
    ...when(
      count(events, "approval.applied", "approval.failed") > 1,
      `${decision.id} ended more than once in the session's log`,
    ),
  ];
});

/** One call per started attempt, and none of an attempt whose start was not committed. */
const oneCallAnAttempt = eachDecision((decision, history) => {
  const calls = effectsOf(history, decision);
  const attempts = attemptsOf(history, decision);
  const named = calls.flatMap((call) => call.attempt ?? []);
  return [
    ...when(calls.length > attempts.length, `${decision.id}: ${calls.length} calls in ${attempts.length} attempts`),
    ...named
      .filter((fence, i) => named.indexOf(fence) !== i)
      .map((fence) => `${decision.id}: attempt with fence ${fence} called more than once`),
    ...named
      .filter((fence) => !attempts.some((attempt) => String(attempt.fence) === fence))
      .map((fence) => `${decision.id}: a call under fence ${fence}, which never started`),
  ];
});

/** What no decision asked for was not done either. */
const noForeignCalls: Find = ({ stored, effects }) =>
  effects
    .filter((call) => !stored.decisions.some((decision) => decision.id === call.key))
    .map((call) => `call ${call.n} has the key of no decision`);

const oneAttemptAnAuthorisation = eachDecision((decision, history) => {
  const attempts = attemptsOf(history, decision);
  const again = wordsOn(history, decision).filter((word) => word.verb === "run-again").length;
  return [
    ...when(attempts.length > 1 + again, `${decision.id}: ${attempts.length} attempts, asked again ${again} times`),
    ...when(
      attempts.some((attempt) => attempt.authorised_by === null),
      `${decision.id}: an attempt nobody authorised`,
    ),
  ];
});

/** Approved before, in the log too, and by somebody who may and who did. */
const approvedBefore = eachDecision((decision, history) => {
  const calls = effectsOf(history, decision);
  if (calls.length === 0) return [];
  const by = decision.decided_by;
  const session = history.stored.sessions.find((one) => one.id === decision.session_id);
  const right = approvedEvent(history, decision)?.data.right as Right | undefined;
  // In which group somebody was at the click only the platform knew; that the rule names the group can be checked.
  const memberOf = right?.via === "usergroup" ? [right.group] : [];
  const allowed =
    by !== null && (by.provider === "api" || mayDecide(decision, by, session?.conversation ?? null, memberOf) !== null);
  const did = wordsOn(history, decision).some((word) => word.verb === "approve" && word.by.userId === by?.userId);
  const events = eventsOf(history, decision);
  const approved = events.findIndex((event) => event.type === "approval.approved");
  const applying = events.findIndex((event) => event.type === "approval.applying");
  const [first] = attemptsOf(history, decision);
  const early =
    !first || decision.decided_at === null || Date.parse(first.started_at) < Date.parse(decision.decided_at);
  return [
    ...when(!allowed, `${decision.id}: an effect without the approval of somebody who may decide`),
    ...when(allowed && !did, `${decision.id}: approved by somebody who did not approve`),
    ...when(approved < 0 || applying < approved, `${decision.id}: an effect that the log does not approve first`),
    ...when(early, `${decision.id}: started before it was decided`),
  ];
});

/** What arrived is what the card showed, byte for byte. */
const sameArguments = eachDecision((decision, history) => [
  ...effectsOf(history, decision)
    .filter((call) => digest(call.args) !== decision.input_digest)
    .map((call) => `${decision.id}: call ${call.n} has other arguments than were approved`),
  ...cardsOf(history, decision)
    .filter(
      ({ message: { card } }) =>
        card.inputDigest !== decision.input_digest ||
        card.cardDigest !== decision.card_digest ||
        digest(card.input) !== card.inputDigest,
    )
    .map(({ ref }) => `${decision.id}: the card at ${ref} shows another proposal`),
]);

const effectIffApplied = eachDecision((decision, history) => {
  const calls = effectsOf(history, decision);
  const { id, status } = decision;
  switch (status) {
    case "applied":
      return when(!calls.some(carriedOut), `${id}: applied, and nothing was done`);
    case "pending":
    case "rejected":
    case "expired":
      return when(calls.length > 0, `${id}: ${status}, and ${calls.length} calls were made`);
    default:
      return [];
  }
});

const failedIsNothing = eachDecision((decision, history) =>
  when(
    decision.status === "failed" && effectsOf(history, decision).some(carriedOut),
    `${decision.id}: failed, and it was done`,
  ),
);

/** The card says what became of it, and the session was told each outcome once. A dead delivery is excused. */
const toldOnce = eachDecision((decision, history) => {
  const { stored } = history;
  const dead = stored.deliveries.some((delivery) => delivery.status === "dead");
  const told = stored.turns.flatMap(({ source, input }) => {
    const payload = input.payload as { decisionId?: string; outcome?: string } | null | undefined;
    return source === "system" && payload?.decisionId === decision.id ? [payload.outcome] : [];
  });
  const lives = stored.sessions.some((one) => one.id === decision.session_id && one.status !== "ended");
  const settled = !["pending", "approved", "applying"].includes(decision.status);
  const unconfirmed = attemptsOf(history, decision).filter((attempt) => attempt.outcome === "unconfirmed").length;
  const outcomes = told.filter((outcome) => outcome !== "unconfirmed");
  return [
    ...when(cardsOf(history, decision).length > 1, `${decision.id} has more than one card`),
    ...cardsOf(history, decision)
      .filter(({ message }) => message.card.status !== decision.status && !dead)
      .map(({ message }) => `${decision.id} is ${decision.status}, and its card says ${message.card.status}`),
    ...when(
      lives && settled && !told.includes(decision.status),
      `${decision.id} is ${decision.status}, and the session was not told`,
    ),
    ...when(outcomes.length > 1, `${decision.id}: the session was told ${outcomes.length} outcomes`),
    ...when(
      told.length - outcomes.length > unconfirmed,
      `${decision.id}: told ${told.length - outcomes.length} times that it is unconfirmed, after ${unconfirmed} attempts`,
    ),
  ];
});

export const DECISION_INVARIANTS = [
  ["I1", oneDecision],
  ["I2", oneCallAnAttempt],
  ["I2", noForeignCalls],
  ["I3", oneAttemptAnAuthorisation],
  ["I4", approvedBefore],
  ["I5", sameArguments],
  ["I6", effectIffApplied],
  ["I7", failedIsNothing],
  ["A9", toldOnce],
] as const;
