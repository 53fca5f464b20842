import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';

/** Describes the machine of a run in a line: processors, memory, system. */
export function machine(): string {
  const [first, ...others] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${1 + others.length} × ${first?.model.trim() ?? arch()}, ${memory} GiB, ${platform()} ${release()}`;
}

/** Returns the versions of Candor, its runtime, and the native packages that determine its speed. */
export function versions(): string {
  const native = ['lmdb', 'uWebSockets.js', 'piscina'].map(
    (name) => `${name} ${versionIn(`../node_modules/${name}/`)}`,
  );
  return [`Candor ${versionIn('../')}`, `Node ${process.versions.node}`, ...native].join(', ');
}

function versionIn(folder: string): string {
  const text = readFileSync(new URL(`${folder}package.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
