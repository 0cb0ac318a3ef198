import { digest } from "../digest.ts";
import { createArrowCheck } from "./arrows.ts";
import { NOTHING_BEFORE, parseRecordLine, type RecordEntry, type SignedHead } from "./entry.ts";
import { isTrulySigned } from "./headKey.ts";

export interface RecordReport {
  readonly entries: number;
  readonly decisions: number;
  /** The last entry's place and hash; null where there is none. */
  readonly head: { readonly seq: number; readonly hash: string } | null;
  /** The last head that a trusted key signed. */
  readonly signed: SignedHead | null;
  /** One sentence each, in the order they were met; empty: nothing is wrong. */
  readonly problems: readonly string[];
}

export interface VerifyOptions {
  /** Public keys (`ed25519:…`) that may vouch for the record. */
  readonly keys: readonly string[];
  /** Hashes seen elsewhere, on a card for example, that have to stand in the record. */
  readonly witnesses?: readonly string[];
}

/** Beyond these a record is not damaged but another one. */
const MOST_PROBLEMS = 100;

/** As it stands in the export; text stands for its UTF-8. */
type Line = string | Buffer;

/**
 * Reads an export line by line: every entry follows the one before it, every decision's story is one the rules allow,
 * and the whole is signed. It needs nothing but the lines and the public keys.
 */
export async function verifyRecord(
  lines: AsyncIterable<Line> | Iterable<Line>,
  { keys, witnesses = [] }: VerifyOptions,
): Promise<RecordReport> {
  const problems: string[] = [];
  const note = (problem: string | null) => {
    if (problem !== null && problems.length < MOST_PROBLEMS) problems.push(problem);
  };
  const checkArrow = createArrowCheck();
  const decisions = new Set<string>();
  const missing = new Set(witnesses);
  let head = { seq: 0, hash: NOTHING_BEFORE };
  let entries = 0;
  let signed: SignedHead | null = null;
  let foreign: SignedHead | null = null;
  let number = 0;

  for await (const line of lines) {
    number++;
    if (line.length === 0) continue;
    const read = parseRecordLine(line.toString());
    if (!read) {
      note(`line ${number} is neither an entry nor a signature`);
      continue;
    }
    if ("signed" in read) {
      const problem = signatureProblem(read.signed, head);
      note(problem);
      if (problem) continue;
      // Of a key that was rotated out, or is nobody's: it proves nothing, and takes nothing away.
      if (keys.includes(read.signed.key)) signed = read.signed;
      else foreign = read.signed;
      continue;
    }
    note(linkProblem(read, head));
    note(prefixed(read, checkArrow(read)));
    head = { seq: read.seq, hash: digest(line) };
    missing.delete(head.hash);
    decisions.add(read.decision);
    entries++;
  }

  // Of an empty record, too: somebody has to say that it is empty, or a file that lost everything would pass.
  if (signed?.seq !== head.seq) {
    const by = foreign ? `; ${foreign.key}, which was not given, signed entry ${foreign.seq}` : "";
    note(`no given key vouches for ${signed ? `what stands behind entry ${signed.seq}` : "any of it"}${by}`);
  }
  for (const hash of missing) note(`no entry has the hash ${hash}`);
  return { entries, decisions: decisions.size, head: entries > 0 ? head : null, signed, problems };
}

type Head = { readonly seq: number; readonly hash: string };

function linkProblem({ seq, previous }: RecordEntry, head: Head): string | null {
  if (seq !== head.seq + 1)
    return `entry ${seq} stands where entry ${head.seq + 1} belongs: entries were removed, added or moved`;
  if (previous !== head.hash)
    return head.seq === 0
      ? "entry 1 follows something that is not here"
      : `entry ${seq} does not follow entry ${head.seq} as it stands: one of them was changed`;
  return null;
}

function signatureProblem(signed: SignedHead, head: Head): string | null {
  if (signed.seq !== head.seq || signed.hash !== head.hash)
    return `what was signed as entry ${signed.seq} is not entry ${head.seq} as it stands`;
  return isTrulySigned(signed) ? null : `the signature of entry ${signed.seq} is false`;
}

const prefixed = ({ seq }: RecordEntry, problem: string | null): string | null =>
  problem === null ? null : `entry ${seq}: ${problem}`;
