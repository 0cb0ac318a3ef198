const PERMISSIONS = ["contents", "pull_requests", "issues", "checks", "actions"] as const;

export interface GitHubAppPermissions {
  readonly contents?: "read" | "write";
  readonly pull_requests?: "read" | "write";
  readonly issues?: "read" | "write";
  readonly checks?: "read" | "write";
  readonly actions?: "read" | "write";
  readonly metadata?: "read";
}

export interface GitHubApp {
  readonly kind: "github-app";
  readonly permissions: GitHubAppPermissions;
}

/** The operator's GitHub App as the provider of a managed connection, narrowed to these permissions. */
export function githubApp({ permissions }: { readonly permissions: GitHubAppPermissions }): GitHubApp {
  for (const [name, level] of Object.entries(permissions)) {
    const allowed =
      name === "metadata" ? ["read"] : (PERMISSIONS as readonly string[]).includes(name) ? ["read", "write"] : [];
    if (!allowed.includes(level)) {
      throw new TypeError(
        `githubApp: ${name}: ${JSON.stringify(level)} is no permission; use read or write of ${PERMISSIONS.join(", ")}, or metadata: "read".`,
      );
    }
  }
  return Object.freeze({ kind: "github-app", permissions: Object.freeze({ ...permissions }) });
}
