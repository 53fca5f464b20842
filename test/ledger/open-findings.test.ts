import { expect, test } from 'vitest';
import { OpenFindings } from '../../src/ledger/open-findings.ts';

test('a finding keeps the time of its first report, shows the newest message and disappears when it is cleared', () => {
  let nowMs = 0;
  const findings = new OpenFindings(() => nowMs);
  findings.raise('anchor_missing', 'first');
  nowMs = 1000;
  findings.raise('clock_jumped', 'other');
  findings.raise('anchor_missing', 'second');
  expect(findings.list()).toEqual([
    { code: 'anchor_missing', message: 'second', since: '1970-01-01T00:00:00.000Z' },
    { code: 'clock_jumped', message: 'other', since: '1970-01-01T00:00:01.000Z' },
  ]);
  findings.clear('anchor_missing');
  expect(findings.list().map(({ code }) => code)).toEqual(['clock_jumped']);
});
