import { slackManifest } from "../../adapters/slack/manifest.ts";
import { CountersignError } from "../../core/domain/errors.ts";

export interface SlackManifestFlags {
  readonly url?: string;
}

/** `countersign slack manifest`: the app to paste into Slack's "Create an app → From a manifest". */
export function printSlackManifest({ url }: SlackManifestFlags, environment: NodeJS.ProcessEnv): void {
  const manifest = slackManifest(toPublicUrl(url ?? environment.PUBLIC_URL ?? ""));
  process.stdout.write(`${JSON.stringify(manifest, null, 2)}\n`);
}

function toPublicUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null;
  // Slack sends to https alone; a query or a login would end up in front of our path.
  if (url?.protocol === "https:" && !url.search && !url.hash && !url.username && !url.password) {
    return url.href.replace(/\/+$/, "");
  }
  throw new CountersignError(
    "bad_request",
    "Slack needs the address at which it reaches this gateway; pass --url https://…, or set PUBLIC_URL.",
  );
}
