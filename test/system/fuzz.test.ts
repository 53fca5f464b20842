/** The fuzzer of `npm run bench -- fuzz`, for as long as a build can wait. It fails for what it finds. */
import { expect, test } from 'vitest';
import { run } from '../../bench/fuzz.ts';

test('random requests, packets and frames beside ingest are all answered as promised', async () => {
  const rows = await run(60, 1);
  const figureOf = (variant: string) => rows.find((row) => row.variant === variant)?.value ?? 0;
  const succeeded = ['updateConfig', 'updatePolicy', 'startScan'].map((name) => `succeeded: ${name}`);
  for (const variant of [
    ...['requests: 200', 'requests: 400', 'packets: 400', 'sockets: subscribed'],
    ...succeeded,
  ])
    expect(figureOf(variant), variant).toBeGreaterThan(0);
  expect(figureOf('events stored beside them')).toBeGreaterThan(0);
  expect(figureOf('peak')).toBeLessThan(900);
}, 180_000);
