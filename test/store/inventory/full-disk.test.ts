import { describe, expect, test } from 'vitest';
import { inVolume, mayMount } from '../small-volume.ts';

describe.skipIf(!mayMount())('a full disk', () => {
  test('loses nothing of the inventory that belongs to a stored event, and adds nothing', () => {
    const child = new URL('full-disk-child.ts', import.meta.url).pathname;
    const output = inVolume(16, 'exec "$1" "$2" "$0"', process.execPath, child);
    const told = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(told).toMatchObject([
      { what: 'room again', right: true },
      { what: 'reported again', right: true, refused: 0 },
      { what: 'opened again', right: true },
    ]);
    expect(told[0].refused).toBeGreaterThan(0);
    expect(told[2].events).toBeGreaterThan(5000);
    expect(told[2].services).toBe(told[1].services);
  });
});
