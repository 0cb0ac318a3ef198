/** The default export of `project.ts`, read without running it: write it as literals. */
export interface ProjectDefinition {
  readonly name: string;
  /** The folders of `agents/` to deploy. */
  readonly agents: readonly string[];
  readonly approvals?: ApprovalsDefinition;
  /** Built-in ids that `useTool` may name although an installation does not offer them. */
  readonly optionalTools?: readonly string[];
}

export interface ApprovalsDefinition extends ApprovalRuleDefinition {
  /** Where a change is proposed that nobody in a conversation asked for; needs `deciders`. */
  readonly channel?: `slack:${string}` | `linear:${string}`;
  /** By tool name; what is left out is taken from above. */
  readonly tools?: Readonly<Record<string, ApprovalRuleDefinition>>;
}

export interface ApprovalRuleDefinition {
  /** Who may decide; `"requester"`, the person whose message the agent was answering, when left out. */
  readonly deciders?:
    | "requester"
    | {
        readonly slack?: { readonly users?: readonly string[]; readonly usergroups?: readonly string[] };
        readonly linear?: { readonly users?: readonly string[] };
      };
  readonly requesterMayDecide?: boolean;
  /** `"24h"` when left out; a number is milliseconds. */
  readonly expiresAfter?: string | number;
  /** `"60s"` when left out; a number is milliseconds. */
  readonly applyTimeout?: string | number;
}
