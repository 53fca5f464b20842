import { access, constants, lstat, realpath, stat, statfs } from 'node:fs/promises';
import { dirname, sep } from 'node:path';

/**
 * File systems that expose parts of the kernel and store no files, by their magic number (statfs(2)). Node's
 * recursive mkdir never returns in /proc, where it cannot create folders.
 */
const pseudoFileSystems: ReadonlyMap<number, string> = new Map([
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
  [0x27e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
  [0x1cd1, 'devpts'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x73636673, 'securityfs'],
  [0x62656570, 'configfs'],
  [0xcafe4a11, 'bpf'],
  [0xde5e81e4, 'efivarfs'],
  [0x6165676c, 'pstore'],
  [0x19800202, 'mqueue'],
  [0x958458f6, 'hugetlbfs'],
  [0xf97cff8c, 'selinuxfs'],
  [0x42494e4d, 'binfmt_misc'],
  [0x65735543, 'fusectl'],
  [0x6e736673, 'nsfs'],
]);

/**
 * Checks that files can be stored in a folder that exists or can be created.
 *
 * @throws Error with a one-line message about the path
 */
export async function checkFolder(path: string): Promise<void> {
  const found = await nearest(path);
  const target = await stat(found).catch(() => undefined);
  if (target === undefined) throw new Error(`${found} is a broken link; specify a folder`);
  if (!target.isDirectory()) throw new Error(`${found} is not a folder; specify a folder`);
  const pseudo = pseudoFileSystems.get((await statfs(found)).type);
  const real = `${await realpath(found)}${sep}`;
  const isDevices = real.startsWith('/dev/') && !real.startsWith('/dev/shm/');
  if (pseudo !== undefined || isDevices)
    throw new Error(`${path} lies in ${pseudo ?? 'devices'}, which cannot store files; specify a folder on a disk`);
  try {
    await access(found, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`${found} cannot be written to (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Returns the path, or its nearest existing parent. */
async function nearest(path: string): Promise<string> {
  try {
    await lstat(path);
    return path;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(path) !== path) return nearest(dirname(path));
    throw new Error(`${path} cannot be used (${code})`);
  }
}
