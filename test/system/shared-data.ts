/**
 * The folder of real sensor data, which is not part of the project. Tests that need the data are skipped if
 * it is missing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const shared = process.env.CANDOR_SHARED ?? new URL('../../../shared', import.meta.url).pathname;
export const hasSharedData = existsSync(join(shared, 'data'));

/** Returns the text of a file of the data folder, decompressed if necessary. */
export function sharedText(name: string): string {
  const bytes = readFileSync(join(shared, 'data', name));
  return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

export function sharedLines(name: string): string[] {
  return sharedText(name)
    .split('\n')
    .filter((line) => line !== '');
}

/** Returns the specification of the interface; undefined if it is missing. */
export function specification(): string | undefined {
  const path = join(shared, 'spec', 'siem-service-interface.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
