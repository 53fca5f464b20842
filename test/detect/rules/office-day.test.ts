import { expect, test } from 'vitest';
import { type TrafficLine, traffic } from '../../../scripts/traffic/index.ts';
import { severities } from '../../../src/contract/vocabulary.ts';
import { Watch } from './shipped.ts';

const hourMs = 3_600_000;
/** A Tuesday, from midnight. */
const start = Date.UTC(2026, 0, 6);

/** Evaluates the lines of the demo office's sensors, in bodies of a thousand lines. */
function watch(seed: number, hours: number, wanted: (line: TrafficLine) => boolean): Watch {
  const seen = new Watch();
  let lines: string[] = [];
  const send = () => {
    seen.take(Buffer.from(lines.join('\n')));
    lines = [];
  };
  for (const line of traffic({ seed, start, linesPerSecond: 1 })) {
    if (line.time >= start + hours * hourMs) break;
    if (wanted(line)) lines.push(line.line);
    if (lines.length === 1000) send();
  }
  send();
  return seen;
}

const titles = (seen: Watch) => new Set(seen.findings.map(({ title }) => title));

test.each([1, 2])('a quiet day in the office causes no findings (seed %i)', (seed) => {
  const seen = watch(seed, 24, ({ truth }) => truth === 'benign');
  expect(seen.records).toBeGreaterThan(20_000);
  const severe = seen.findings.filter(({ severity }) => severities.indexOf(severity) > severities.indexOf('low'));
  expect(severe.map(({ title, src_ip, dst_ip }) => [title, src_ip, dst_ip])).toEqual([]);
  expect([...titles(seen)]).toEqual([]);
});

test('the rules find attacks that records show directly', () => {
  const seen = watch(1, 4, ({ truth }) => truth === 'port-scan' || truth === 'dns-tunnel');
  expect([...titles(seen)].toSorted()).toEqual([
    'DNS tunnelling (TXT or NULL volume)',
    'DNS tunnelling (long names)',
    'Internal port scan',
  ]);
});
