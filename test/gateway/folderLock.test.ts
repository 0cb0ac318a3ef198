import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderInUse, lockFolder } from "../../src/gateway/folderLock.ts";
import { processStart } from "../../src/gateway/processes.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A living process that the folder says is its owner. */
async function ownedByAnother() {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  const pid = child.pid ?? 0;
  await writeFile(join(folder, "owner"), `${pid} ${processStart(pid)}`);
  return child;
}

test("an owner that ends while the folder is asked for is waited for", async () => {
  const owner = await ownedByAnother();
  const taking = lockFolder(folder);
  owner.kill("SIGKILL");
  await (await taking).release();
});

test("an owner that lives on is named, and keeps the folder", async () => {
  const owner = await ownedByAnother();
  try {
    await expect(lockFolder(folder)).rejects.toThrow(FolderInUse);
    await expect(lockFolder(folder)).rejects.toThrow(`in use by process ${owner.pid}`);
  } finally {
    owner.kill("SIGKILL");
  }
});
