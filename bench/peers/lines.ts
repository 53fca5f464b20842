import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connLines } from '../../scripts/traffic/index.ts';

export const linesPerFile = 10_000;

/**
 * Writes Zeek conn lines of the last hours to files for all participants: `events` lines, the last from a
 * minute ago. Returns their paths, in the order of time.
 */
export function writeLines(folder: string, events: number): readonly string[] {
  const secondsOf = events / 300;
  const start = Date.now() - Math.ceil(secondsOf * 1.05 + 60) * 1000;
  const paths: string[] = [];
  let lines: string[] = [];
  for (const line of connLines(7, events, start)) {
    if (lines.push(line) < linesPerFile) continue;
    const path = join(folder, `${String(paths.length).padStart(5, '0')}.ndjson`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    paths.push(path);
    lines = [];
  }
  return paths;
}
