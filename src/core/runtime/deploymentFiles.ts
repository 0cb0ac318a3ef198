import { chmod, mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { Deployment, Manifest } from "../domain/manifest.ts";

/** A deployment on disk: its bundles lie in `folder`, under the paths that the manifest names. */
export interface Materialised {
  readonly manifest: Manifest;
  readonly folder: string;
}

/**
 * Writes each deployment's files once under `<deploymentsDir>/<id>`, read-only. Written beside and renamed, so that a
 * folder of that name is always whole, whichever process made it. Bundles are ES modules.
 */
export function createDeploymentFiles(deploymentsDir: string, loadDeployment: (id: string) => Promise<Deployment>) {
  const known = new Map<string, Promise<Materialised>>();

  async function materialise(id: string): Promise<Materialised> {
    const folder = join(deploymentsDir, folderName(id));
    const { manifest, files } = await loadDeployment(id);
    if (await exists(folder)) return { manifest, folder };
    await mkdir(deploymentsDir, { recursive: true });
    const fresh = await mkdtemp(join(deploymentsDir, ".writing-"));
    try {
      await writeReadOnly(join(fresh, "package.json"), '{"type":"module"}\n');
      for (const file of files) await writeReadOnly(join(fresh, inside(file.path)), file.content);
      await chmod(fresh, 0o755);
      await rename(fresh, folder);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true });
      if (!(await exists(folder))) throw error;
    }
    return { manifest, folder };
  }

  return (id: string): Promise<Materialised> => {
    const found = known.get(id);
    if (found) return found;
    const made = materialise(id);
    known.set(id, made);
    made.catch(() => known.delete(id));
    return made;
  };
}

/** An id as a folder's name; ids come from the database, but a path is no place to trust one. */
export function folderName(id: string): string {
  if (!/^[\w-][\w.@-]{0,199}$/.test(id)) throw new Error(`${JSON.stringify(id)} cannot name a folder`);
  return id;
}

function inside(path: string): string {
  const plain = normalize(path);
  if (plain.startsWith("/") || plain === ".." || plain.startsWith("../"))
    throw new Error(`${path} leaves the deployment`);
  return plain;
}

async function writeReadOnly(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await rm(path, { force: true });
  await writeFile(path, content, { mode: 0o444 });
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
