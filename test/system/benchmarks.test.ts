/**
 * The benchmarks that load a service from a separate process run at small sizes, and report a figure for each
 * measurement.
 */
import { expect, test } from 'vitest';
import { run as bytesPerEvent } from '../../bench/bytes-per-event.ts';
import { run as ingestBatches } from '../../bench/ingest-batches.ts';
import { run as ingestFormats } from '../../bench/ingest-formats.ts';
import { run as ingestLatency } from '../../bench/ingest-latency.ts';
import { run as ingestMixes } from '../../bench/ingest-mixes.ts';
import type { BenchRow } from '../../bench/result.ts';
import { run as startup } from '../../bench/startup.ts';

const timeout = 300_000;
const figureOf = (rows: readonly BenchRow[], variant: string) =>
  rows.find((row) => row.variant === variant)?.value ?? Number.NaN;

test('the benchmark reports ingest rates by format', { timeout }, async () => {
  const rows = await ingestFormats(0.05, ['OTLP protobuf, Zeek conn'], 2);
  expect(rows.map(({ unit }) => unit)).toEqual(['events/s', 'MiB RssAnon, peak']);
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
  expect(rows[0]!.low).toBeLessThanOrEqual(rows[0]!.value);
});

test('the benchmark reports ingest rates by size of bodies and number of connections', {
  timeout,
}, async () => {
  const rows = await ingestBatches(0.05, { 1: [2], 100: [8], 1000: [4] }, 1, { small: [100, 8], large: [1000, 4] });
  expect(rows).toHaveLength(3 * 5 + 1);
  for (const { value } of rows) expect(value).toBeGreaterThan(0);
  expect(figureOf(rows, '100 a body, 8 at a time ÷ 1,000 a body, 4 at a time')).toBeGreaterThan(0);
});

test('the benchmark reports ingest rates by traffic, and during other work', { timeout }, async () => {
  const rows = await ingestMixes(0.3, 1, ['a site, with all three'], 1000);
  const figures = { rates: 2, ratios: 1, cpu: 2, latencies: 2, memory: 2, work: 5 };
  expect(rows).toHaveLength(Object.values(figures).reduce((sum, count) => sum + count));
  for (const { value, variant } of rows) expect(value, variant).toBeGreaterThanOrEqual(0);
  expect(figureOf(rows, 'a site, with all three: read by the subscriber')).toBeGreaterThan(0);
});

test('the benchmark reports ingest latency by load', { timeout }, async () => {
  const rows = await ingestLatency(0.1, [50]);
  expect(rows).toHaveLength(2 * (2 + 7));
  for (const variant of ['acknowledgement, p99, at 50 % load', 'change of a silence, p99, at 50 % load'])
    expect(figureOf(rows, variant), variant).toBeGreaterThan(0);
});

test('the benchmark reports the stored bytes per event', { timeout }, async () => {
  const rows = await bytesPerEvent(10_000, ['Zeek conn, JSON']);
  expect(figureOf(rows, 'its block')).toBeLessThan(figureOf(rows, 'the lines'));
  expect(figureOf(rows, 'the whole database')).toBeGreaterThan(figureOf(rows, 'its block'));
});

test('the benchmark reports the time of a start', { timeout }, async () => {
  const rows = await startup(2000, 2);
  expect(rows.map(({ variant }) => variant)).toEqual([
    'no events, after the first start',
    'first start',
    'later starts',
  ]);
  for (const { value, variant } of rows) expect(value, variant).toBeGreaterThan(0);
});
