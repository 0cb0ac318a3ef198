import type { Json } from "./json.ts";

/** A deployment is immutable; its id is the digest of its content (B4). */
export interface Deployment {
  /** `dpl_` and the first 32 hex digits of the SHA-256 over the manifest and every file. */
  readonly id: string;
  readonly manifest: Manifest;
  readonly files: readonly DeploymentFile[];
}

export interface DeploymentFile {
  /** Relative to the deployment's folder, forward slashes: `agents/support/agent.js`. */
  readonly path: string;
  readonly content: Uint8Array;
}

export interface Manifest {
  readonly version: 1;
  readonly project: string;
  readonly agents: readonly AgentManifest[];
  readonly approvals: ApprovalSettings;
  readonly warnings: readonly string[];
  /** Names of runtime variables (contract, section 1): in `process.env` of the agent. */
  readonly variables: readonly string[];
}

export interface AgentManifest {
  readonly id: string;
  /** The bundled module whose default export is the agent function. */
  readonly module: string;
  readonly tools: readonly ToolManifest[];
  readonly connections: readonly ConnectionManifest[];
  /** Names of the secrets its connections use. */
  readonly secrets: readonly string[];
  /** Built-in tool ids the agent selects by string. */
  readonly builtins: readonly string[];
  // What follows is absent in manifests from before it was recorded.
  /** Services it calls as somebody who connected an account: `linear`, `github`, `google`. */
  readonly services?: readonly string[];
  readonly schedules?: readonly ScheduleManifest[];
  readonly mcpServers?: readonly McpServerManifest[];
  readonly githubApps?: readonly GithubAppManifest[];
  readonly skills?: readonly SkillManifest[];
}

export interface ScheduleManifest {
  readonly id: string;
  /** Five fields, read in `timezone`, an IANA name. */
  readonly cron: string;
  readonly timezone: string;
  /** Environments it runs in: `production` or `development`. */
  readonly enabled: readonly string[];
  /** What happens to a run that is due while the one before is at work. */
  readonly overlap: "skip" | "allow";
  readonly dispatch: { readonly text?: string; readonly payload?: Json };
}

/** A remote server of tools, over streamable HTTP; `connection` authorises its requests. */
export interface McpServerManifest {
  readonly id: string;
  readonly url: string;
  readonly connection?: string;
}

/** A connection whose credential is a short-lived installation token of the operator's GitHub App. */
export interface GithubAppManifest {
  readonly id: string;
  readonly permissions: Readonly<Record<string, "read" | "write">>;
}

/** `skills/<name>/SKILL.md`; its files stand in the deployment under `path`. */
export interface SkillManifest {
  readonly name: string;
  readonly description: string;
  /** The folder in the deployment: `agents/support/skills/refunds`. */
  readonly path: string;
}

export interface ToolManifest {
  readonly name: string;
  readonly kind: "run" | "approval";
  readonly result: boolean;
  readonly output?: Json;
  /** SHA-256, 64 hex digits, over the tool's declaration and the module it stands in. */
  readonly digest: string;
  /** `agents/support/tools/attach.ts:4`, for messages. */
  readonly declaredAt: string;
  /** It has `verify`. Absent in manifests from before this was noted: it may have. */
  readonly verifies?: boolean;
}

export interface ConnectionManifest {
  readonly id: string;
  readonly origin: string;
  readonly methods?: readonly string[];
  readonly pathPrefix?: string;
  readonly headers: readonly ConnectionHeader[];
  readonly redirectOrigins: readonly string[];
}

/** A header is literal text, or made around a secret: `prefix + secret + suffix`. */
export type ConnectionHeader =
  | { readonly name: string; readonly literal: string }
  | {
      readonly name: string;
      readonly secret: string;
      readonly scope?: string;
      readonly prefix: string;
      readonly suffix: string;
    };

/** `approvals` of project.ts with its defaults filled in; per tool, the same again. Durations in milliseconds. */
export interface ApprovalSettings extends ApprovalRule {
  readonly channel?: string;
  readonly tools: Readonly<Record<string, ApprovalRule>>;
}

export interface ApprovalRule {
  readonly deciders: "requester" | Deciders;
  readonly requesterMayDecide: boolean;
  readonly expiresAfterMs: number;
  readonly applyTimeoutMs: number;
}

export interface Deciders {
  readonly slack?: { readonly users: readonly string[]; readonly usergroups: readonly string[] };
  readonly linear?: { readonly users: readonly string[] };
}

/** The rule of one tool, its own or the project's. A tool may be called `constructor`. */
export const ruleOf = (approvals: ApprovalSettings, tool: string): ApprovalRule =>
  (Object.hasOwn(approvals.tools, tool) ? approvals.tools[tool] : undefined) ?? approvals;

export const DEFAULT_APPROVALS: ApprovalSettings = {
  deciders: "requester",
  requesterMayDecide: true,
  expiresAfterMs: 24 * 60 * 60 * 1000,
  applyTimeoutMs: 60_000,
  tools: {},
};
