import type { ProjectDefinition } from "@opencomputer/agent";

export default {
  name: "support",
  agents: ["support"],
  // The person the agent is talking to decides. A write that does not answer within 20 seconds is unconfirmed.
  approvals: { deciders: "requester", expiresAfter: "24h", tools: { attach: { applyTimeout: "20s" } } },
} satisfies ProjectDefinition;
