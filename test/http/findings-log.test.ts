import { expect, test } from 'vitest';
import type { LedgerStatus } from '../../src/ledger/ledger.ts';
import { FindingsLog } from '../../src/observability/findings-log.ts';

test('the service logs each fault and finding once when it appears, and once when it is resolved', () => {
  const lines: string[] = [];
  const log = new FindingsLog({
    error: (about: object) => lines.push(`error ${(about as { finding: string }).finding}`),
    info: (about: object) => lines.push(`info ${(about as { finding: string }).finding}`),
  } as never);
  const ok: LedgerStatus['health'] = { state: 'ok' };
  const clock = { code: 'clock_jumped', message: 'm', since: '2026-01-01T00:00:00.000Z' } as const;
  log.report({ health: ok, findings: [] });
  log.report({ health: ok, findings: [clock] });
  log.report({ health: { state: 'degraded', fault: 'clock', advice: 'a' }, findings: [clock] });
  log.report({ health: ok, findings: [] });
  expect(lines).toEqual(['error clock_jumped', 'error degraded: clock', 'info clock_jumped', 'info degraded: clock']);
});
