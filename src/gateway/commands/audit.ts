import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Config, loadConfig } from "../../core/config.ts";
import { CountersignError } from "../../core/domain/errors.ts";
import { exportRecord } from "../../core/flow/exportRecord.ts";
import { createHeadKey, isPublicKey } from "../../core/record/headKey.ts";
import { splitLines } from "../../core/record/lines.ts";
import { verifyRecord } from "../../core/record/verifyRecord.ts";
import { loadMasterKey } from "../keys.ts";
import { createLog } from "../log.ts";
import { withDatabase } from "../withDatabase.ts";

interface DataFlags {
  readonly data?: string;
}

/** `countersign audit key`: what somebody outside keeps, to verify exports with. */
export async function printAuditKey(flags: DataFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const config = configOf(flags, environment);
  print(createHeadKey(await loadMasterKey(config)).publicKey);
}

/** `countersign audit export FILE`: the whole record, signed at its end; the file is whole or not there. */
export async function writeExport(file: string, flags: DataFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const config = configOf(flags, environment);
  const headKey = createHeadKey(await loadMasterKey(config));
  const draft = `${file}.partial`;
  const unwritable = (cause: NodeJS.ErrnoException): never => {
    throw new CountersignError("bad_request", `${file} cannot be written (${cause.code}); name another file.`, {
      cause,
    });
  };
  // Before the database is: an embedded one takes seconds to start.
  await writeFile(draft, "").catch(unwritable);
  try {
    // From the beginning each time: the database may go away under it, and the export is made again.
    await withDatabase(config, createLog(config.logLevel), (pool) =>
      pipeline(Readable.from(exportRecord({ pool, headKey })), createWriteStream(draft)),
    );
    await rename(draft, file).catch(unwritable);
    print(`${file} is written, signed with ${headKey.publicKey}`);
  } finally {
    await rm(draft, { force: true });
  }
}

export interface VerifyFlags {
  readonly key: readonly string[];
  readonly witness?: readonly string[];
}

/** `countersign audit verify FILE --key KEY`: no database, no configuration. Exit 1 where anything is wrong. */
export async function verifyExport(file: string, { key, witness = [] }: VerifyFlags): Promise<void> {
  const wrong = key.find((text) => !isPublicKey(text));
  if (wrong !== undefined)
    throw new CountersignError("bad_request", `${wrong} is no public key; give what \`countersign audit key\` shows.`);
  const lines = splitLines(createReadStream(file));
  const report = await verifyRecord(lines, { keys: key, witnesses: witness }).catch((cause: unknown) => {
    throw new CountersignError("bad_request", `${file} cannot be read; name a file that audit export wrote.`, {
      cause,
    });
  });
  for (const problem of report.problems) print(`✗ ${visible(problem)}`);
  const { entries, decisions, head, signed } = report;
  print(`${entries} entries of ${decisions} decisions${head ? `; the last is ${head.seq}, ${head.hash}` : ""}`);
  if (signed) print(`signed up to entry ${signed.seq} at ${signed.signedAt} with ${signed.key}`);
  print(report.problems.length === 0 ? "the record is whole" : "the record is NOT whole");
  if (report.problems.length > 0) process.exitCode = 1;
}

const configOf = ({ data }: DataFlags, env: NodeJS.ProcessEnv): Config =>
  loadConfig({ env, flags: { ...(data && { data }) } });

/** A doctored export must not move the cursor of whoever reads what is wrong with it. */
const visible = (text: string): string =>
  text.replaceAll(/\p{C}/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);

const print = (line: string): void => void process.stdout.write(`${line}\n`);
