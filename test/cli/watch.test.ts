import { expect, onTestFinished, test } from 'vitest';
import { watch } from '../../src/cli/watch.ts';
import { exitCodes } from '../../src/service/exit-codes.ts';

test('a pause longer than the longest timer is not shortened to a millisecond', async () => {
  const warnings: string[] = [];
  const warned = ({ name }: Error) => warnings.push(name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  let audits = 0;
  const ended = watch(30 * 24 * 3_600_000, {
    audit: async () => {
      audits += 1;
      return { exit: exitCodes.ok, state: 'same', lines: [], fields: {} };
    },
    print: () => {},
  });
  const stop = process.listeners('SIGTERM').at(-1)!;
  await new Promise((resolve) => setTimeout(resolve, 100));
  stop('SIGTERM');
  expect(await ended).toBe(exitCodes.ok);
  expect([...process.listeners('SIGTERM'), ...process.listeners('SIGINT')]).not.toContain(stop);
  expect(audits).toBe(1);
  expect(warnings).not.toContain('TimeoutOverflowWarning');
});
