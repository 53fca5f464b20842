import { describe, expect, test } from 'vitest';
import { limits } from '../../../src/limits.ts';
import { inVolume, mayMount } from '../../store/small-volume.ts';

describe.skipIf(!mayMount())('a full disk', () => {
  test('rejects events and continues to serve reads; retention makes room in the file, and events are accepted again', () => {
    const child = new URL('retention-full-disk-child.ts', import.meta.url).pathname;
    const stages = inVolume(256, 'exec "$1" "$2" "$0"', process.execPath, child)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const full = { code: 'UNAVAILABLE', details: { reason: 'disk_full' } };
    const { accepted } = stages[0];
    expect(stages).toMatchObject([
      { what: 'refused', ...full, listed: accepted },
      { what: 'another program uses more', ...full, listed: accepted },
      { what: 'no free space', ...full },
      { what: 'still no free space' },
      { what: 'removed', listed: 0, expired: [{ table: 'network', reason: 'age', events: accepted }] },
      { what: 'accepted again', refused: [], listed: 60 * 500 },
    ]);
    expect(accepted).toBeGreaterThan(60 * 500);
    const [refused, , none, , gone, again] = stages;
    expect(none.free).toBe(0);
    // The volume has no more room than before, because the freed space stays in the file.
    expect(gone.free).toBeLessThan(limits.minFreeDiskBytes);
    expect(again.free).toBeGreaterThanOrEqual(limits.minReservedDiskBytes);
    expect(again.file).toBeLessThan(1.1 * refused.file);
  });
});
