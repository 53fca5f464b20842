/** One damage to one file of a data folder, the same for the same number. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const kinds = ['truncated', 'bits', 'zeroed', 'older', 'missing', 'folder', 'link', 'pipe', 'owner'] as const;

export interface Damage {
  readonly file: string;
  readonly kind: (typeof kinds)[number];
  /** Whom the service has to run as, where files have another owner. */
  readonly user?: number;
}

const nobody = 65_534;

export function damageOne(folder: string, older: string, round: number): Damage {
  const random = randomOf(round);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const small = filesOf(folder).filter((name) => !name.endsWith('.mdb'));
  // Most of the bytes are in the databases.
  const file = random(2) === 0 ? pick(['siem.mdb', 'ledger.mdb']) : pick(small);
  const isMine = process.geteuid?.() === 0;
  const kind = pick(
    file.endsWith('.mdb') ? ([...kinds, 'bits', 'bits', 'zeroed', 'truncated'] as const) : kinds,
  );
  const path = join(folder, file);
  const bytes = readFileSync(path);
  switch (kind) {
    case 'truncated':
      truncateSync(path, random(bytes.length + 1));
      break;
    case 'bits':
      for (let flips = 1 + random(16); flips > 0 && bytes.length > 0; flips--)
        bytes[random(bytes.length)]! ^= 1 << random(8);
      writeFileSync(path, bytes);
      break;
    case 'zeroed': {
      const from = random(bytes.length + 1);
      writeFileSync(path, bytes.fill(0, from, Math.min(bytes.length, from + 1 + random(8192))));
      break;
    }
    case 'older':
      if (existsSync(join(older, file))) cpSync(join(older, file), path);
      break;
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
      if (!isMine) break;
      for (const name of ['', 'keys', ...filesOf(folder)]) chownSync(join(folder, name), nobody, nobody);
      chownSync(path, 0, 0);
      chmodSync(path, pick([0o600, 0o644]));
      return { file, kind, user: nobody };
  }
  return { file, kind };
}

/** Files in a data folder and in its keys. */
function filesOf(folder: string): string[] {
  const keys = readdirSync(join(folder, 'keys')).map((name) => `keys/${name}`);
  return [...readdirSync(folder), ...keys].filter((name) => statSync(join(folder, name)).isFile()).sort();
}

/** Mulberry32: numbers below `most`. */
function randomOf(seed: number): (most: number) => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return (most) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
}
