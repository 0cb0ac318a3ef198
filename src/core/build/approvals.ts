import type { Json } from "../domain/json.ts";
import {
  type ApprovalRule,
  type ApprovalSettings,
  DEFAULT_APPROVALS,
  type Deciders,
  ruleOf,
} from "../domain/manifest.ts";
import { durationMs } from "./duration.ts";

/** Adds a problem of `approvals`; `field` is the path below it, such as `tools.attach.expiresAfter`. */
export type RefuseApproval = (field: string, what: string, instead: string) => void;

type Fields = { readonly [key: string]: Json };

const RULE_FIELDS = ["deciders", "requesterMayDecide", "expiresAfter", "applyTimeout"];

/** A platform and a place on it: a Slack channel's id, or a Linear issue's. */
const CHANNEL = /^(?:slack:[CGD][A-Z0-9]+|linear:[A-Z][A-Z0-9]*-\d+)$/;

/** Reads `approvals` of project.ts and fills in the defaults; per tool, what is left out comes from the project's own. */
export function readApprovals(value: Json | undefined, refuse: RefuseApproval): ApprovalSettings {
  if (value === undefined) return DEFAULT_APPROVALS;
  if (!isObject(value)) {
    refuse("", "is not an object", "write approvals: { deciders: …, expiresAfter: … }");
    return DEFAULT_APPROVALS;
  }
  refuseUnknown(value, [...RULE_FIELDS, "channel", "tools"], "", refuse);
  const rule = readRule(value, DEFAULT_APPROVALS, "", refuse);
  const channel = readChannel(value, refuse);
  const tools: Record<string, ApprovalRule> = {};
  const perTool = value["tools"];
  if (perTool !== undefined && !isObject(perTool))
    refuse("tools", "is not an object", "write tools: { attach: { … } }");
  for (const [name, own] of Object.entries(isObject(perTool) ? perTool : {})) {
    if (!isObject(own)) {
      refuse(`tools.${name}`, "is not an object", "write { deciders: …, expiresAfter: … }");
      continue;
    }
    refuseUnknown(own, RULE_FIELDS, `tools.${name}.`, refuse);
    tools[name] = readRule(own, rule, `tools.${name}.`, refuse);
  }
  return { ...rule, ...(channel === undefined ? {} : { channel }), tools };
}

/**
 * What only the whole project can say of its rules: a misspelt tool would stay under the project's own rule without a
 * word, and a rule by which nobody may ever decide would refuse every call of its tool. `tools`: those that wait for
 * approval.
 */
export function checkRules(approvals: ApprovalSettings, tools: readonly string[], refuse: RefuseApproval): void {
  for (const name of Object.keys(approvals.tools)) {
    if (tools.includes(name)) continue;
    const instead = tools.length > 0 ? `write ${tools.join(" or ")}, or take it out` : "take it out: no agent has one";
    refuse("tools", `names "${name}", which is no tool with preview and apply`, instead);
  }
  for (const name of tools) {
    const rule = ruleOf(approvals, name);
    if (rule.deciders !== "requester" || rule.requesterMayDecide) continue;
    const at = rule === approvals ? "" : `tools.${name}.`;
    refuse(
      `${at}requesterMayDecide`,
      "is false where deciders names the requester alone, so that nobody could ever decide",
      `name other people in approvals.${at}deciders, or write true`,
    );
  }
}

function readRule(fields: Fields, fallback: ApprovalRule, at: string, refuse: RefuseApproval): ApprovalRule {
  const duration = (field: string, otherwise: number): number => {
    const value = fields[field];
    const ms = value === undefined ? otherwise : durationMs(value);
    if (ms === null)
      refuse(at + field, `${JSON.stringify(value)} is no duration`, 'write "60s", "5m", "24h", "7d" or milliseconds');
    return ms ?? otherwise;
  };
  const may = fields["requesterMayDecide"];
  if (may !== undefined && typeof may !== "boolean")
    refuse(`${at}requesterMayDecide`, "is not a boolean", "write true or false");
  const deciders = fields["deciders"];
  return {
    deciders: deciders === undefined ? fallback.deciders : readDeciders(deciders, at, refuse),
    requesterMayDecide: typeof may === "boolean" ? may : fallback.requesterMayDecide,
    expiresAfterMs: duration("expiresAfter", fallback.expiresAfterMs),
    applyTimeoutMs: duration("applyTimeout", fallback.applyTimeoutMs),
  };
}

const FORM = 'write "requester", or { slack: { users: ["U…"], usergroups: ["S…"] }, linear: { users: ["…"] } }';

/** How each platform's ids look: a name, a handle or a mention in their place would match nobody, for ever. */
const IDS: Readonly<Record<string, Readonly<Record<string, { pattern: RegExp; instead: string }>>>> = {
  slack: {
    users: {
      pattern: /^(?:[TE][A-Z0-9]+\/)?[UW][A-Z0-9]+$/,
      instead:
        'write the member id that the profile\'s menu in Slack copies, "U…", or "T…/U…" for another workspace\'s',
    },
    usergroups: {
      pattern: /^S[A-Z0-9]+$/,
      instead: 'write the id at the end of the address of the user group\'s page in Slack, "S…"',
    },
  },
  linear: { users: { pattern: /^\S+$/, instead: "write the user's id" } },
};

function readDeciders(value: Json, at: string, refuse: RefuseApproval): "requester" | Deciders {
  if (value === "requester") return value;
  const wrong = (what: string, instead = FORM, list = ""): "requester" => {
    refuse(`${at}deciders${list}`, what, instead);
    return "requester";
  };
  if (!isObject(value)) return wrong("is neither the requester nor a list of people");
  for (const [platform, people] of Object.entries(value)) {
    const kinds = IDS[platform];
    if (!kinds || !isObject(people)) return wrong(`names ${platform}, which is no platform with people`);
    for (const [kind, ids] of Object.entries(people)) {
      const id = kinds[kind];
      const list = `.${platform}.${kind}`;
      if (!id || !isIds(ids)) return wrong("is not a list of ids", FORM, list);
      const misspelt = ids.find((name) => !id.pattern.test(name));
      if (misspelt !== undefined) return wrong(`names ${JSON.stringify(misspelt)}, which is no id`, id.instead, list);
    }
  }
  const ids = (platform: string, kind: string): readonly string[] => {
    const people = value[platform];
    const list = isObject(people) ? people[kind] : undefined;
    return isIds(list) ? list : [];
  };
  const users = ids("slack", "users");
  const usergroups = ids("slack", "usergroups");
  const linear = ids("linear", "users");
  if (users.length + usergroups.length + linear.length === 0)
    return wrong("names nobody, so that nothing could be approved");
  return {
    ...(users.length + usergroups.length > 0 ? { slack: { users, usergroups } } : {}),
    ...(linear.length > 0 ? { linear: { users: linear } } : {}),
  };
}

function readChannel(fields: Fields, refuse: RefuseApproval): string | undefined {
  const { channel, deciders } = fields;
  if (channel === undefined) return undefined;
  if (typeof channel !== "string" || !CHANNEL.test(channel)) {
    refuse("channel", `${JSON.stringify(channel)} is no channel`, 'write "slack:C…" or "linear:ENG-1"');
    return undefined;
  }
  // Nobody asked for what is proposed there, so the default decider, the requester, does not exist.
  if (deciders === undefined)
    refuse("channel", "is given without deciders", "name who may decide there in approvals.deciders");
  return channel;
}

function refuseUnknown(fields: Fields, known: readonly string[], at: string, refuse: RefuseApproval): void {
  for (const field of Object.keys(fields)) {
    if (!known.includes(field)) refuse(at + field, "is not known", `use ${known.join(", ")}`);
  }
}

const isIds = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string" && id !== "");

const isObject = (value: Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
