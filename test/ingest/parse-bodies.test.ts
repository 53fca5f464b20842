import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unpackDerived } from '../../src/events/derived-data.ts';
import { openBlock } from '../../src/events/format/block.ts';
import type { RowRange } from '../../src/ingest/batch.ts';
import { parseBodies } from '../../src/ingest/parse-bodies.ts';
import { type IngestInput, parseBody } from '../../src/ingest/parse-body.ts';
import { limits } from '../../src/limits.ts';
import { pack } from '../../src/rpc/transfer.ts';
import { detectors, home, receivedAt } from './ingesting.ts';

const conn = (n: number) =>
  `{"ts":${1_767_000_000 + n}.5,"uid":"C${n}","id.orig_h":"10.0.0.${n % 250}","id.orig_p":1,"id.resp_h":"192.0.2.1","id.resp_p":443,"proto":"tcp","conn_state":"SF"}`;
const dns = (n: number) =>
  `{"ts":${1_767_000_000 + n}.5,"uid":"D${n}","id.orig_h":"10.0.0.1","id.orig_p":1,"id.resp_h":"10.0.0.53","id.resp_p":53,"proto":"udp","trans_id":7,"rcode":0,"query":"n${n}.example"}`;

const input = (body: string | Uint8Array, more: Partial<IngestInput> = {}): IngestInput => {
  const own = new Uint8Array(Buffer.from(body as string)).buffer;
  const base = { mediaType: 'ndjson', receivedAt, home, digest: false } as const;
  return { pieces: [own], length: own.byteLength, ...base, ...more };
};

/** Returns the groups, as indices of the inputs. */
function together(inputs: readonly IngestInput[]): (number[] | 'refused')[] {
  const { groups, places } = parseBodies(inputs, detectors);
  const found: (number[] | 'refused')[] = groups.map(() => []);
  places.forEach((place, at) => {
    if ('error' in place) found.push('refused');
    else (found[place.group] as number[])[place.body] = at;
  });
  return found;
}

/** Returns the connection id and the time of receipt of each row of a body. */
function rowsOf(inputs: readonly IngestInput[], at: number): [string, number][] {
  const { groups, places } = parseBodies(inputs, detectors);
  const place = places[at]!;
  if ('error' in place) throw place.error;
  const group = groups[place.group]!;
  return group.bodies[place.body]!.rows.flatMap(([block, from, to]) => {
    const opened = openBlock(group.blocks[block]!, 1);
    return Array.from({ length: to - from }, (_, n): [string, number] => [
      opened.texts('connection_id').text(from + n)!,
      opened.numbers('received_at').at(from + n),
    ]);
  });
}

describe('bodies that wait at the same time', () => {
  test('have their Zeek TSV rows parsed with the header from an earlier body of the same sensor', () => {
    const header =
      '#path\tconn\n#fields\tts\tid.orig_h\tid.resp_h\tproto\tconn_state\n#types\ttime\taddr\taddr\tenum\tstring';
    const row = '1767000000.5\t10.0.0.1\t192.0.2.1\ttcp\tSF';
    const inputs = [
      input(header, { sensorId: 'a' }),
      input(row, { sensorId: 'a', digest: true }),
      input(row, { sensorId: 'a' }),
      input(row, { sensorId: 'b' }),
    ];
    const { groups, places } = parseBodies(inputs, detectors);
    const bodies = places.map((place) => ('error' in place ? undefined : groups[place.group]!.bodies[place.body]!));
    expect(bodies.map((body) => body?.answer.accepted)).toEqual([0, 1, 1, 0]);
    expect(bodies.map((body) => body?.headers?.map(({ path }) => path))).toEqual([
      ['conn'],
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('share blocks, and each event and finding names the sensor of its body', () => {
    const notice = '{"ts":1,"note":"N::A","msg":"m"}';
    const inputs = [
      input(`${conn(1)}\n${notice}`, { sensorId: 'a' }),
      input(`${conn(2)}\n${notice}`, { sensorId: 'b' }),
      input(`${conn(3)}\n${notice}`),
    ];
    const [group, ...others] = parseBodies(inputs, detectors).groups;
    expect(others).toEqual([]);
    const sensors = openBlock(group!.blocks[0]!, 1).texts('sensor_id');
    expect([0, 1, 2].map((row) => sensors.text(row))).toEqual(['a', 'b', undefined]);
    expect(unpackDerived(group!).findings.map((finding) => finding.sensors)).toEqual([['a'], ['b'], undefined]);
  });

  test('move all buffers between threads, however many findings they have', () => {
    const notices = Array.from({ length: 20_000 }, (_, n) => `{"ts":${n},"note":"N::A","msg":"m","src":"192.0.2.1"}`);
    const { groups } = parseBodies([input(notices.join('\n'), { sensorId: 'a' }), input(conn(1))], detectors);
    const buffers = groups.flatMap(({ blocks, derived, bodies }) => [
      ...[...blocks, derived].filter((buffer) => buffer !== undefined),
      ...bodies.flatMap(({ spent }) => spent),
    ]);
    expect(new Set(pack(groups).transfer)).toEqual(new Set(buffers));
    const { derived, ...plain } = groups[0]!;
    expect(unpackDerived({ derived: derived! }).findings).toHaveLength(20_000);
    expect(JSON.stringify(plain).length).toBeLessThan(1000);
    expect(groups[1]).not.toHaveProperty('derived');
  });

  test('share blocks, and each body has a separate response and rows', () => {
    const inputs = [
      input([conn(1), dns(1), 'x', conn(2)].join('\n')),
      input(`${conn(3)}\n`, { receivedAt: receivedAt + 1 }),
      input('{"ts":1,"note":"N::A","msg":"m"}'),
      input(dns(4), { sensor: 'tap' }),
    ];
    const { groups } = parseBodies(inputs, detectors);
    expect(groups).toHaveLength(1);
    expect(groups[0]!.blocks).toHaveLength(2);
    expect(groups[0]!.bodies.map(({ answer }) => [answer.accepted, answer.rejected])).toEqual([
      [3, 1],
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
    expect(groups[0]!.bodies[0]!.answer.errors).toMatchObject([{ line: 3 }]);
    expect(groups[0]!.bodies[1]!.answer.errors).toEqual([]);
    expect([0, 1, 2, 3].map((at) => rowsOf(inputs, at))).toEqual([
      [
        ['C1', receivedAt],
        ['C2', receivedAt],
        ['D1', receivedAt],
      ],
      [['C3', receivedAt + 1]],
      [],
      [['D4', receivedAt]],
    ]);
  });

  test('are processed alone if they are large or may be sent again', () => {
    const large = `${conn(1)}\n`.repeat(Math.ceil(limits.maxGroupedBytes / conn(1).length));
    const shrunk = new Uint8Array(gzipSync(large));
    expect(shrunk.length).toBeLessThan(limits.maxGroupedBytes / 4);
    const inputs = [
      input(conn(1)),
      input(large),
      input(conn(2)),
      input(shrunk, { encoding: 'gzip' }),
      input(conn(3), { digest: true }),
      input(conn(4)),
    ];
    expect(together(inputs)).toEqual([[1], [3], [4], [0, 2, 5]]);
  });

  test('share a group only up to the limit of bytes', () => {
    const third = `${conn(1)}\n`.repeat(Math.ceil(limits.maxGroupedBytes / 3 / conn(1).length));
    expect(together([input(third), input(third), input(third), input(conn(1))])).toEqual([
      [0, 1],
      [2, 3],
    ]);
  });

  test('are rejected alone if they fail: nothing of a failing body is stored, and other bodies are not affected', () => {
    const bulk = { name: 'elasticsearch_bulk', index: 'i', fields: [], sender: 's' } as const;
    const half = `{"create":{"_id":"a"}}\n${conn(9)}\nno action\n`;
    const inputs = [
      input(conn(1)),
      input(dns(2)),
      input(half, { framing: bulk }),
      input('x', { encoding: 'gzip' }),
      input(conn(3)),
    ];
    expect(together(inputs)).toEqual([[0, 1], [4], 'refused', 'refused']);
    const { groups, places } = parseBodies(inputs, detectors);
    expect(places[2]).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
    const rows = groups.flatMap(({ blocks }) => blocks).reduce((sum, one) => sum + openBlock(one, 1).rows, 0);
    expect(rows).toBe(3);
  });

  test('give the same result together as separately', () => {
    const line = fc.constantFrom(conn(1), conn(2), dns(3), 'x', '{}', '');
    const body = fc.record({
      lines: fc.array(line, { maxLength: 6 }),
      fails: fc.boolean(),
      digest: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(body, { maxLength: 12 }), (given) => {
        const inputs = given.map(({ lines, fails, digest }) =>
          input(lines.join('\n'), fails ? { encoding: 'gzip' } : { digest }),
        );
        const { groups, places } = parseBodies(inputs, detectors);
        expect(places).toHaveLength(inputs.length);
        for (const [at, place] of places.entries()) {
          expect('error' in place).toBe(given[at]!.fails);
          if ('error' in place) continue;
          const alone = parseBody(inputs[at]!, detectors);
          const { answer, digest, rows } = groups[place.group]!.bodies[place.body]!;
          expect([answer, digest, count(rows)]).toEqual([alone.answer, alone.digest, count(alone.rows)]);
        }
      }),
    );
  });
});

const count = (rows: readonly RowRange[]) => rows.reduce((sum, [, from, to]) => sum + to - from, 0);
