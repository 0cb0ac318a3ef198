/** The migrated database that each test file's own is cloned from. */
export const TEMPLATE = "countersign_template";

/** The same server, another database. */
export function withDatabase(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
