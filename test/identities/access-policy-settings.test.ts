/** Settings for access to metrics and log entries, with a policy that an earlier version of the program stored. */
import { expect, test } from 'vitest';
import { opened } from './opened-policy.ts';
import { rewriteStored } from './policy-parts.ts';

const open = { metricsNeedRole: false, publicEntries: true };
const closed = { metricsNeedRole: true, publicEntries: false };

test('a policy of an earlier version follows the settings only if it was never changed', async () => {
  const first = await opened(undefined, { settings: open });
  const { dataDir } = first;
  const isPublic = ({ policy }: typeof first) =>
    (['getMetrics', 'listEntries'] as const).map((operation) => policy.accessOf(operation) === 'public');
  const forget = (version: number) => rewriteStored(dataDir, ({ settings: _, ...stored }) => ({ ...stored, version }));
  expect(isPublic(first)).toEqual([true, true]);
  await first.close();

  await forget(7);
  const kept = await opened(dataDir, { settings: closed });
  expect(isPublic(kept)).toEqual([true, true]);
  expect(kept.policy.contradictions()).toHaveLength(2);
  await kept.close();

  await forget(1);
  const followed = await opened(dataDir, { settings: closed });
  expect(isPublic(followed)).toEqual([false, false]);
  expect(followed.policy.contradictions()).toEqual([]);
});
