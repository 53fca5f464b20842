import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { type Attributes, events, hasShared, parse, sharedFile } from './ingesting.ts';

const header = (path: string, fields: string, types: string): string =>
  [
    '#separator \\x09',
    '#set_separator\t,',
    '#empty_field\t(empty)',
    '#unset_field\t-',
    `#path\t${path}`,
    '#open\t2026-01-01-00-00-00',
    `#fields\t${fields.replaceAll(' ', '\t')}`,
    `#types\t${types.replaceAll(' ', '\t')}`,
  ].join('\n');

const connHeader = header(
  'conn',
  'ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto service duration orig_bytes local_orig tunnel_parents',
  'time string addr port addr port enum string interval count bool set[string]',
);
const connRow = '1763683200.123456\tC1\t10.0.0.1\t1234\t10.0.0.2\t80\ttcp\t-\t0.5\t10\tT\t(empty)';
const dnsHeader = header(
  'dns',
  'ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto query rcode AA answers TTLs',
  'time string addr port addr port enum string count bool vector[string] vector[interval]',
);
const dnsRow =
  '1763683200.5\tD1\t10.0.0.1\t53001\t10.0.0.53\t53\tudp\tcaf\\xc3\\xa9\\x2d.example\t0\tF\ta\\x2cb,192.0.2.1\t60.000000,-';

describe.skipIf(!hasShared)('Zeek TSV of a real network', () => {
  it.each([
    ['conn', 8462],
    ['dns', 5124],
  ])('has the same events as in JSON, field by field: zeek-lan %s', (log, lines) => {
    const tsv = parse(sharedFile(`zeek-lan/zeek_${log}.log.gz`), { encoding: 'gzip' });
    const json = parse(sharedFile(`zeek-lan/m57.${log}.ndjson.gz`), { encoding: 'gzip' });
    expect(tsv.answer).toEqual({ accepted: lines, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
    expect(json.answer).toEqual(tsv.answer);
    // The lines of the two files are in different order.
    expect(sorted(events(tsv))).toEqual(sorted(events(json)));
  });
});

function sorted(all: Attributes[]): string[] {
  return all.map((event) => JSON.stringify(event, Object.keys(event).sort().concat('type', 'ttl', 'data'))).sort();
}

describe('the parser of Zeek TSV', () => {
  it('parses rows by the preceding header, several headers in a body, and JSON between', () => {
    const json = '{"_path":"conn","ts":1,"id.orig_h":"10.0.0.9","id.resp_h":"10.0.0.8","proto":"udp"}';
    const parsed = parse(`${connHeader}\n${connRow}\n${json}\n#close\t2026\r\n${dnsHeader}\r\n${dnsRow}\r\n`);
    expect(parsed.answer).toEqual({ accepted: 3, rejected: 0, ignored: 0, duplicates: 0, errors: [] });
    const [first, second, third] = events(parsed);
    expect(first).toEqual({
      timestamp: '2025-11-21T00:00:00.123Z',
      duration_ms: 500,
      src_ip: '10.0.0.1',
      src_port: 1234,
      dst_ip: '10.0.0.2',
      dst_port: 80,
      transport: 'tcp',
      src_payload_bytes: 10,
      direction: 'internal',
      connection_id: 'C1',
      source: 'zeek',
      severity: 'informational',
    });
    expect(second?.src_ip).toBe('10.0.0.9');
    expect(third).toMatchObject({
      query: 'café-.example',
      kind: 'transaction',
      authoritative: false,
      answers: [{ data: 'a,b' }, { type: 'A', data: '192.0.2.1' }].map((answer, at) =>
        at === 0 ? { ...answer, ttl: 60 } : answer,
      ),
    });
  });

  it('accepts other separators', () => {
    const body = [
      '#separator \\x7c',
      '#set_separator|;',
      '#empty_field|EMPTY',
      '#unset_field|NONE',
      '#path|dns',
      '#fields|ts|id.orig_h|id.resp_h|proto|query|answers|TTLs',
      '#types|time|addr|addr|enum|string|vector[string]|vector[interval]',
      '1|10.0.0.1|10.0.0.2|udp|NONE|192.0.2.1;192.0.2.2|1;2',
    ].join('\n');
    expect(events(parse(body))[0]).toMatchObject({
      answers: [
        { type: 'A', ttl: 1, data: '192.0.2.1' },
        { type: 'A', ttl: 2, data: '192.0.2.2' },
      ],
    });
  });

  it('ignores rows of other logs', () => {
    const body = `${header('http', 'ts uid', 'time string')}\n1.0\tC1\n2.0\tC2`;
    expect(parse(body).answer).toMatchObject({ accepted: 0, ignored: 2, rejected: 0 });
  });

  it.each([
    ['a row without a header', connRow, 'line'],
    ['a row that is too short', `${connHeader}\n1.0\tC1`, 'line'],
    ['a row that is too long', `${connHeader}\n${connRow}\tmore`, 'line'],
    ['a header that is too wide', `#fields${'\tx'.repeat(limits.maxTsvColumns + 1)}`, 'line'],
    ['types that do not fit', '#separator \\x09\n#fields\tts\n#types\ttime\tstring', 'line'],
    ['an invalid number', `${connHeader}\n${connRow.replace('\t10\t', '\t0x10\t')}`, 'orig_bytes'],
    ['an empty number', `${connHeader}\n${connRow.replace('\t10\t', '\t\t')}`, 'orig_bytes'],
    ['a negative number', `${connHeader}\n${connRow.replace('\t10\t', '\t-10\t')}`, 'orig_bytes'],
    ['an invalid time', `${connHeader}\n${connRow.replace('1763683200.123456', 'now')}`, 'ts'],
    ['a row without an address', `${connHeader}\n${connRow.replace('10.0.0.1', '-')}`, 'id.orig_h'],
  ])('rejects %s, names the field, and accepts the next row', (_, body, field) => {
    const { answer } = parse(`${body}\n${connHeader}\n${connRow}`);
    expect(answer).toMatchObject({ accepted: 1, rejected: 1, errors: [{ code: 'INVALID_REQUEST', field }] });
  });

  it('treats __proto__ and constructor in a header as names', () => {
    const body = `${header('conn', '__proto__ constructor ts id.orig_h id.resp_h proto', 'string string time addr addr enum')}\nx\ty\t1\t10.0.0.1\t10.0.0.2\ttcp`;
    expect(parse(body).answer.accepted).toBe(1);
    expect(({} as Record<string, unknown>).ts).toBeUndefined();
  });
});
