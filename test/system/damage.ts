/**
 * Damages one file of a data folder; the same round gives the same damage. The first rounds cover every file with every
 * kind of damage. Later rounds give random damage, mostly in the databases.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const kinds = ['truncated', 'bits', 'zeroed', 'older', 'missing', 'folder', 'link', 'pipe', 'owner'] as const;

export interface Case {
  readonly file: string;
  readonly kind: (typeof kinds)[number];
}

export interface Damage extends Case {
  /** Id of the user that must run the service, if the damaged file belongs to another user. */
  readonly user?: number;
}

const nobody = 65_534;

/**
 * Damages one file, and returns the damage; undefined if the damage would change nothing, or requires another
 * user.
 */
export function damageOne(folder: string, older: string, round: number, given?: Case): Damage | undefined {
  const random = randomOf(round);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const files = filesOf(folder);
  const all = files.flatMap((file) => kinds.map((kind) => ({ file, kind })));
  const { file, kind } = given ?? all[round - 1] ?? randomCase(files, random);
  const path = join(folder, file);
  const before = readFileSync(path);
  const bytes = Buffer.from(before);
  switch (kind) {
    case 'truncated':
      return rewritten(before.subarray(0, random(before.length + 1)));
    case 'bits':
      for (let flips = 1 + random(16); flips > 0 && bytes.length > 0; flips--)
        bytes[random(bytes.length)]! ^= 1 << random(8);
      return rewritten(bytes);
    case 'zeroed': {
      const from = random(bytes.length + 1);
      return rewritten(bytes.fill(0, from, Math.min(bytes.length, from + 1 + random(8192))));
    }
    case 'older':
      return existsSync(join(older, file)) ? rewritten(readFileSync(join(older, file))) : undefined;
    case 'missing':
      rmSync(path);
      break;
    case 'folder':
      rmSync(path);
      mkdirSync(path);
      break;
    case 'link':
      if (random(2) === 0) rmSync(path);
      else renameSync(path, join(folder, 'elsewhere'));
      symlinkSync('elsewhere', path);
      break;
    case 'pipe':
      rmSync(path);
      execFileSync('mkfifo', [path]);
      break;
    case 'owner':
      if (process.geteuid?.() !== 0) return undefined;
      for (const name of ['', ...subfolders, ...files]) chownSync(join(folder, name), nobody, nobody);
      chownSync(path, 0, 0);
      chmodSync(path, pick([0o600, 0o644]));
      return { file, kind, user: nobody };
  }
  return { file, kind };

  function rewritten(after: Buffer): Damage | undefined {
    if (after.equals(before)) return undefined;
    writeFileSync(path, after);
    return { file, kind };
  }
}

/** Returns a random file and kind of damage. Half of the cases are in the databases, which have most of the bytes. */
function randomCase(files: readonly string[], random: (most: number) => number): Case {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  if (random(2) === 0) return { file: pick(files.filter((name) => !name.endsWith('.mdb'))), kind: pick(kinds) };
  const likely = ['bits', 'bits', 'zeroed', 'truncated'] as const;
  return { file: pick(['siem.mdb', 'ledger.mdb']), kind: pick([...kinds, ...likely]) };
}

const subfolders = ['keys', 'rules'];

/** Returns the files in a data folder and in its folders `keys` and `rules`. */
function filesOf(folder: string): string[] {
  const inside = subfolders.flatMap((name) => readdirSync(join(folder, name)).map((file) => join(name, file)));
  return [...readdirSync(folder), ...inside].filter((name) => statSync(join(folder, name)).isFile()).sort();
}

/** Returns a Mulberry32 generator of integers below `most`. */
function randomOf(seed: number): (most: number) => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}
