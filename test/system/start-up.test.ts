/** A start does not read what is stored: thirty thousand events are there at once, and the log says so at its head. */
import { expect, test } from 'vitest';
import { run } from '../../bench/startup.ts';

test('thirty thousand stored events are there after each start', { timeout: 120_000 }, async () => {
  const rows = await run(30_000, 2);
  expect(rows.every(({ value }) => value > 0)).toBe(true);
});
