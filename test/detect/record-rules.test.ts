import { describe, expect, test } from 'vitest';
import { mulberry32 } from '../../bench/conn-records.ts';
import { RecordRules } from '../../src/detect/record-rules.ts';
import { parseSigma } from '../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../src/detect/sigma/rule-set.ts';
import { type IngestInput, type ParsedBody, parseBody } from '../../src/ingest/parse-body.ts';
import { limits } from '../../src/limits.ts';
import { detectors, home, receivedAt } from '../ingest/ingesting.ts';

const rule = (name: string, logsource: string, selection: string) => `title: ${name}
name: ${name}
logsource: {${logsource}}
detection: {selection: {${selection}}, condition: selection}
`;

function parse(rules: readonly string[], body: string, options: Partial<IngestInput> = {}): ParsedBody {
  const { documents, problems } = parseSigma(rules.join('---\n'));
  expect(problems).toEqual([]);
  const set = compileRules(documents);
  expect(set.refused).toEqual([]);
  const bytes = new Uint8Array(Buffer.from(body)).buffer;
  const input = {
    pieces: [bytes],
    length: bytes.byteLength,
    mediaType: 'ndjson',
    receivedAt,
    home,
    digest: false,
    ...options,
  } as const;
  return parseBody(input, { ...detectors, rules: new RecordRules(set) });
}

const found = (rules: readonly string[], body: string, options?: Partial<IngestInput>) =>
  parse(rules, body, options).findings.map(({ rule_id, event, src_ip, dst_ip, timestamp }) => ({
    rule_id,
    event,
    src_ip,
    dst_ip,
    timestamp,
  }));

const at = Date.UTC(2026, 0, 2);
const ids = { 'id.orig_h': '10.0.0.1', 'id.orig_p': 1, 'id.resp_h': '192.0.2.1', 'id.resp_p': 2 };
const line = (record: object) => `${JSON.stringify({ ts: at / 1000, uid: 'C', ...record })}\n`;
const expected = { src_ip: '10.0.0.1', dst_ip: '192.0.2.1', timestamp: at };

describe('records of every format are evaluated, stored or not', () => {
  const web = rule('web', 'category: proxy', 'cs-host: files.example');
  const conn = rule('conn', 'category: firewall', 'dst_port: 4444');

  test('Zeek dialects, with and without the name of the log', () => {
    const http = { trans_depth: 1, request_body_len: 0, method: 'GET', host: 'files.example' };
    const body = [
      line({ ...ids, ...http }),
      line({ ...ids, ...http, _path: 'http' }),
      line({ '@stream': 'http', id_orig_h: '10.0.0.1', id_resp_h: '192.0.2.1', ...http }),
      line({ id: { orig_h: '10.0.0.1', resp_h: '192.0.2.1' }, ...http }),
    ].join('');
    const findings = found([web], body);
    expect(findings).toEqual(Array(4).fill({ rule_id: 'web', event: undefined, ...expected }));
  });

  test('Zeek TSV, with the fields of its header', () => {
    const header =
      '#separator \\x09\n#path\thttp\n#fields\tts\tuid\tid.orig_h\tid.resp_h\thost\n#types\ttime\tstring\taddr\taddr\tstring\n';
    const row = `${at / 1000}\tC\t10.0.0.1\t192.0.2.1\tfiles.example\n`;
    expect(found([web], header + row)).toEqual([{ rule_id: 'web', event: undefined, ...expected }]);
  });

  test('Suricata', () => {
    const eve = {
      timestamp: '2026-01-02T00:00:00.000000+0000',
      src_ip: '10.0.0.1',
      dest_ip: '192.0.2.1',
      proto: 'TCP',
    };
    const body = [
      JSON.stringify({ ...eve, event_type: 'http', http: { hostname: 'files.example' } }),
      JSON.stringify({ ...eve, event_type: 'flow', dest_port: 4444, flow: {} }),
    ].join('\n');
    expect(found([web, conn], body)).toEqual([
      { rule_id: 'web', event: undefined, ...expected },
      { rule_id: 'conn', event: { block: 0, row: 0 }, ...expected },
    ]);
  });

  test('native events, sent to the general and to the typed endpoint', () => {
    const own = {
      timestamp: '2026-01-02T00:00:00.000Z',
      src_ip: '10.0.0.1',
      dst_ip: '192.0.2.1',
      dst_port: 4444,
      transport: 'tcp',
    };
    const one = { rule_id: 'conn', event: { block: 0, row: 0 }, ...expected };
    expect(found([conn], JSON.stringify({ type: 'network_event', ...own }))).toEqual([one]);
    expect(found([conn], JSON.stringify(own), { table: 'network' })).toEqual([one]);
  });
});

test('a finding names the row of its record, even if other records precede the record', () => {
  const conn = rule('conn', 'category: firewall', 'dst_port: 2');
  const name = rule('name', 'category: dns', 'query: a.example');
  const dns = { _path: 'dns', ...ids, proto: 'udp', trans_id: 1, query: 'a.example' };
  const flow = { _path: 'conn', ...ids, proto: 'tcp', conn_state: 'SF' };
  const body = line(dns) + line({ ...flow, 'id.resp_p': 3 }) + line({ ...flow, proto: 7 }) + line(flow) + line(dns);
  expect(found([conn, name], body).map(({ rule_id, event }) => [rule_id, event])).toEqual([
    ['name', { block: 0, row: 0 }],
    ['conn', { block: 1, row: 1 }],
    ['name', { block: 0, row: 1 }],
  ]);
});

test('invalid fields of an ignored record are left out of the finding', () => {
  const odd = rule('odd', 'product: zeek, service: weird', 'name: x');
  const record = {
    _path: 'weird',
    name: 'x',
    notice: false,
    'id.orig_h': 7,
    'id.orig_p': 'x',
    'id.resp_h': 'no',
    proto: '<b>',
  };
  const [finding] = parse([odd], line({ ...record, ts: 'yesterday' })).findings;
  expect(finding).toMatchObject({ rule_id: 'odd', timestamp: receivedAt });
  for (const end of ['src_ip', 'src_port', 'dst_ip', 'transport']) expect(finding).not.toHaveProperty(end);
});

test('a body whose records match too often has a limited number of findings, and the limit is reported', () => {
  const rules = Array.from({ length: 30 }, (_, n) => rule(`r${n}`, 'category: dns', 'query: x'));
  const dns = line({ _path: 'dns', ...ids, proto: 'udp', query: 'x' });
  const parsed = parse(rules, dns.repeat(4000));
  expect(parsed.findings).toHaveLength(limits.maxBodyFindings);
  expect(parsed.reached).toEqual(['maxBodyFindings']);
  expect(parsed.hits).toHaveLength(30);
  expect(parsed.hits[0]).toEqual(['r0', 4000]);
});

test('a finding carries the values of the fields that its rule uses', () => {
  const asked = rule('asked', 'category: proxy', 'cs-host: files.example, c-uri|contains: /a, cs-method: [GET, PUT]');
  const http = {
    trans_depth: 1,
    request_body_len: 0,
    method: 'GET',
    host: 'files.example',
    uri: `/a${'x'.repeat(900)}`,
  };
  const [finding] = parse([asked], line({ ...ids, ...http })).findings;
  expect(finding?.evidence).toEqual({
    'cs-host': 'files.example',
    // Rules may refer to the path or the whole URL.
    'c-uri': [`/a${'x'.repeat(498)}`, `http://files.example/a${'x'.repeat(478)}`],
    'cs-method': 'GET',
  });
});

test('a rule that takes long on a record is reported, and fast rules are not', () => {
  const slow = rule('slow', 'category: proxy', "cs-uri|re: '([a-z]|[a-m0-9])*[a-m][a-z0-9]{150}[!_]'");
  const host = rule('host', 'category: proxy', 'cs-host: files.example');
  const random = mulberry32(1);
  const letter = () => String.fromCharCode(97 + Math.floor(random() * 26));
  const uri = Array.from({ length: 10_000 }, letter).join('');
  const http = { trans_depth: 1, method: 'GET', host: 'files.example', uri: '/' };
  // Only the last of these 64 records is timed.
  const body = line({ ...ids, ...http }).repeat(63) + line({ ...ids, ...http, uri });
  expect(parse([slow, host], body).slow).toEqual([['slow', expect.any(Number)]]);
  expect(parse([host], body).slow).toEqual([]);
});
