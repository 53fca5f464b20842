import { savePin } from '../../src/cli/pin-file.ts';
import { audit } from '../../src/client/auditor.ts';
import { httpLog } from '../../src/client/log-source.ts';
import type { ServedLog } from '../client/served-log.ts';

/** Runs the first `candor audit` in this process, for tests of later runs. */
export async function pinned(log: ServedLog, state: string): Promise<void> {
  const result = await audit(httpLog(log.url), undefined, { now: Date.now() });
  if (result.status !== 'pinned') throw new Error(`wanted a pin, came ${result.status}`);
  await savePin(state, result.pin, undefined);
}
