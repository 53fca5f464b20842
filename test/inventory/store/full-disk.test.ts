import { describe, expect, test } from 'vitest';
import { inVolume, mayMount } from '../../store/small-volume.ts';

describe.skipIf(!mayMount())('a full disk', () => {
  test('ends the process during a commit; after a restart, the inventory agrees with the stored events', () => {
    const child = new URL('full-disk-child.ts', import.meta.url).pathname;
    const command = '"$1" "$2" "$0" fill; mount -o remount,size=256m "$0" && exec "$1" "$2" "$0" continue';
    const printed = inVolume(16, command, process.execPath, child)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(printed).toMatchObject([
      { what: 'ended', isFailedWrite: true },
      { what: 'opened', right: true },
      { what: 'continued with fulfilled,fulfilled', right: true },
      { what: 'opened again', right: true },
    ]);
    const [ended, opened, continued, again] = printed;
    expect(ended.acknowledged).toBeGreaterThan(2000);
    expect(opened.events).toBe(ended.acknowledged);
    expect(again).toMatchObject({ events: continued.events, services: continued.services });
  });
});
