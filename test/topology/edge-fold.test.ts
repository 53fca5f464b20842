import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { appProtocols } from '../../src/contract/app-protocols.ts';
import { addressBytes, printAddress } from '../../src/net/ip.ts';
import { describeEdge } from '../../src/topology/model/describe.ts';
import { EdgeFold } from '../../src/topology/model/edge-fold.ts';
import { Edges, most, noHour } from '../../src/topology/model/edges.ts';
import { mergeRuns } from '../../src/topology/model/merge.ts';
import { bucketIn, rollUp } from '../../src/topology/model/roll-up.ts';
import { encodeSegments, Segment } from '../../src/topology/model/segment.ts';
import { anyFlow } from './flows.ts';
import { factOf, type PlainFlow, type PlainRow, rowsOf } from './rows.ts';

const hour = 3_600_000;
const now = 40 * hour;

/** Returns the block of an address; a literal implementation of the rule. */
function block(address: string, role: 'host' | 'site' | 'outside'): string {
  const bytes = addressBytes(address)!;
  const text = printAddress(bytes);
  const v4 = !text.includes(':');
  if (v4 && bytes[12]! >= 224 && bytes[12]! < 240) return '224.0.0.0/4';
  if (text === '255.255.255.255') return text;
  if (!v4 && bytes[0] === 255) return 'ff00::/8';
  if (role === 'host') return text;
  const kept = v4 ? 15 : role === 'site' ? 8 : 6;
  bytes.fill(0, kept);
  return `${printAddress(bytes)}/${v4 ? 24 : kept * 8}`;
}

/** Sums flows with maps and sets. */
function plainly(flows: readonly PlainFlow[]): PlainRow[] {
  const rows = new Map<string, PlainRow>();
  const time = (ms: number) => Math.max(0, Math.min(253_402_300_799_999, Math.floor(ms)));
  for (const flow of flows) {
    const first = time(flow.first);
    const bucket = first > now ? noHour : Math.floor(first / hour);
    const source = block(flow.src, flow.srcHome ? 'host' : 'outside');
    const target = block(flow.dst, flow.dstHome ? (flow.answered ? 'host' : 'site') : 'outside');
    const key = `${bucket} ${source} ${target}`;
    const before = rows.get(key);
    const names = appProtocols(flow.app ?? '').map((name) => name.slice(0, 32).toWellFormed());
    rows.set(key, {
      bucket,
      source,
      target,
      connections: (before?.connections ?? 0) + flow.connections,
      bytes: Math.min(most, (before?.bytes ?? 0) + Math.min(most, Math.floor(flow.bytes))),
      first: Math.min(before?.first ?? Infinity, first),
      last: Math.max(before?.last ?? -Infinity, first, time(flow.last)),
      ports: [...new Set([...(before?.ports ?? []), ...(flow.port >= 0 ? [flow.port] : [])])].sort((a, b) => a - b),
      protocols: [...new Set([...(before?.protocols ?? []), ...names])].sort(),
    });
  }
  return [...rows.values()].map((row) => ({
    ...row,
    ports: row.ports.slice(0, 16),
    protocols: row.protocols.slice(0, 8),
  }));
}

const sorted = (rows: readonly PlainRow[]) => rows.map((row) => JSON.stringify(row)).sort();

function folded(flows: readonly PlainFlow[], maxRows?: number): Segment[] {
  const fold = new EdgeFold(() => now, 7);
  for (const flow of flows) fold.flow(factOf(flow));
  return encodeSegments(fold.edges, maxRows).map((bytes) => new Segment(bytes));
}

/** Merges complete segments. */
function mergeSegments(segments: readonly Segment[]): Segment[] {
  const runs = segments.map((segment) => [segment].values());
  return Array.from(mergeRuns(runs), (bytes) => new Segment(bytes));
}

describe('edges of flows', () => {
  it('equal a plain sum, for any division into segments', () => {
    fc.assert(
      fc.property(fc.array(anyFlow, { maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (flows, maxRows) => {
        expect(sorted(rowsOf(folded(flows, maxRows)))).toEqual(sorted(plainly(flows)));
      }),
    );
  });

  it('merge to the same result in any grouping and order', () => {
    const batches = fc.array(fc.array(anyFlow, { maxLength: 60 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.integer(), (flows, turn) => {
        const all = flows.map((batch) => folded(batch));
        const wanted = plainly(flows.flat());
        const at = Math.abs(turn) % all.length;
        const rotated = [...all.slice(at), ...all.slice(0, at)];
        const left = rotated.reduce((merged, one) => mergeSegments(merged.concat(one)), [] as Segment[]);
        const right = rotated.reduceRight((merged, one) => mergeSegments(one.concat(merged)), [] as Segment[]);
        expect(sorted(rowsOf(left))).toEqual(sorted(wanted));
        expect(rowsOf(right)).toEqual(rowsOf(left));
        expect(rowsOf(mergeSegments(all.flat()))).toEqual(rowsOf(left));
      }),
    );
  });

  it('are merged one segment at a time, sorted, without duplicate rows', () => {
    const batches = fc.array(fc.array(anyFlow, { maxLength: 60 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 9 }), (flows, maxRows) => {
        const runs = flows.map((batch) => folded(batch, maxRows).values());
        const parts = Array.from(mergeRuns(runs, 7, { maxRows }), (bytes) => new Segment(bytes));
        expect(parts.slice(0, -1).every(({ rows }) => rows === maxRows)).toBe(true);
        const rows = rowsOf(parts);
        expect(sorted(rows)).toEqual(sorted(plainly(flows.flat())));
        expect(rows.map(({ bucket }) => bucket)).toEqual(rows.map(({ bucket }) => bucket).sort((a, b) => a - b));
      }),
    );
  });

  it('roll up to days and to the total; flows dated ahead of the server clock are only in the total', () => {
    fc.assert(
      fc.property(fc.array(anyFlow, { maxLength: 100 }), (flows) => {
        for (const level of ['hour', 'day', 'ever'] as const) {
          const edges = rollUp(folded(flows), level, 7);
          const total = edges.connections.subarray(0, edges.count).reduce((a, b) => a + b, 0);
          const counted = flows.filter(({ first }) => {
            const at = Math.max(0, Math.floor(first));
            return bucketIn(level, at > now ? noHour : Math.floor(at / hour)) !== undefined;
          });
          expect(total).toBe(counted.reduce((sum, { connections }) => sum + connections, 0));
        }
      }),
    );
  });

  it('keep the sixteen lowest ports of one host', () => {
    const flow = { src: '10.0.0.1', dst: '10.0.0.2', srcHome: true, dstHome: true, answered: true };
    const rest = { app: undefined, connections: 1, bytes: 1, first: 0, last: 0 };
    const flows = Array.from({ length: 65_536 }, (_, i) => ({ ...flow, ...rest, port: 65_535 - i }));
    const [row, ...others] = rowsOf(folded(flows));
    expect(others).toEqual([]);
    expect(row!.ports).toEqual(Array.from({ length: 16 }, (_, i) => i));
    expect(row!.connections).toBe(65_536);
  });
});

test('edges of segments from an earlier version have one name for each protocol', () => {
  const edges = new Edges();
  const node = edges.nodes.add(0x20010db8, 0, 0, 1, 128, 1);
  const row = edges.row(0, node, node);
  edges.add(row, 1, 1, 0, 0);
  for (const text of ['http', 'ssl', 'ssl,http']) edges.addProtocol(row, edges.text(text));
  expect(describeEdge(edges, row).protocols).toEqual(['http', 'tls']);
});
