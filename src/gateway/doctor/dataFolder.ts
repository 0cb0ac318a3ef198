import { access, constants, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../core/config.ts";
import { createKeyRing } from "../../core/egress/secretBox.ts";
import { type Finding, findingsAbout } from "./finding.ts";

const folder = findingsAbout("data folder");
const keys = findingsAbout("keys");

/** `masterKey` is null where there is none, or none that can be used. */
export interface DataFolderChecked {
  readonly findings: readonly Finding[];
  readonly masterKey: string | null;
}

type FolderConfig = Pick<Config, "dataDir" | "masterKey" | "masterKeyPrevious">;

export async function checkDataFolder(config: FolderConfig): Promise<DataFolderChecked> {
  const { finding, masterKey } = await checkMasterKey(config);
  return { findings: [await checkFolder(config.dataDir), finding], masterKey };
}

async function checkFolder(dir: string): Promise<Finding> {
  try {
    await access(dir, constants.R_OK | constants.W_OK | constants.X_OK);
    return folder.ok(`${dir} can be read and written.`);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return folder.ok(`${dir} is not there yet; the first start makes it.`);
    return folder.problem(
      `${dir} cannot be read and written (${code}); make it so for this user, or name another with --data.`,
    );
  }
}

async function checkMasterKey(config: FolderConfig): Promise<{ finding: Finding; masterKey: string | null }> {
  const path = join(config.dataDir, "keys/master");
  let kept = config.masterKey;
  let readable = false;
  try {
    kept ??= (await readFile(path, "utf8")).trim();
    readable = config.masterKey === null && ((await stat(path)).mode & 0o077) !== 0;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT")
      return { finding: keys.ok("No master key yet; the first start makes one."), masterKey: null };
    return {
      finding: keys.problem(`The master key ${path} cannot be read (${code}); give it back to this user.`),
      masterKey: null,
    };
  }
  try {
    createKeyRing(kept, config.masterKeyPrevious);
  } catch {
    const where = config.masterKey === null ? path : "COUNTERSIGN_MASTER_KEY or COUNTERSIGN_MASTER_KEY_PREVIOUS";
    return {
      finding: keys.problem(`${where} is no key of 32 bytes in base64; put the right one back.`),
      masterKey: null,
    };
  }
  const finding = readable
    ? keys.warning(`Others on this machine can read the master key; run chmod 600 ${path}.`)
    : keys.ok("The master key can be used.");
  return { finding, masterKey: kept };
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? "unknown";
