import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOf, openService, type Service } from './service.ts';

// Shippers that follow a Zeek log send its lines unchanged: the header in one body, rows in others.

let service: Service;
let admin: string;
beforeAll(async () => {
  service = await openService();
  admin = await adminOf(service);
});
afterAll(() => service.close());

const header = (path: string, fields: string, types: string): string[] => [
  '#separator \\x09',
  '#set_separator\t,',
  '#empty_field\t(empty)',
  '#unset_field\t-',
  `#path\t${path}`,
  '#open\t2026-01-01-00-00-00',
  `#fields\t${fields.replaceAll(' ', '\t')}`,
  `#types\t${types.replaceAll(' ', '\t')}`,
];
const conn = {
  header: header(
    'conn',
    'ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto conn_state orig_bytes',
    'time string addr port addr port enum string count',
  ),
  row: (uid: string) => `1767268800.5\t${uid}\t10.0.0.1\t1234\t198.51.100.2\t80\ttcp\tSF\t10`,
};
const dns = {
  header: header(
    'dns',
    'ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto trans_id query rcode',
    'time string addr port addr port enum count string count',
  ),
  row: (uid: string) => `1767268800.5\t${uid}\t10.0.0.1\t1234\t10.0.0.53\t53\tudp\t7\ta.example\t0`,
};
/** Has as many columns as conn, with other types. */
const weird = {
  header: header(
    'weird',
    'ts uid id.orig_h id.orig_p id.resp_h id.resp_p name notice peer',
    'time string addr port addr port string bool string',
  ),
  row: (uid: string) => `1767268800.5\t${uid}\t10.0.0.1\t1234\t198.51.100.2\t80\tdata_before\tF\tzeek`,
};

type Send = (token: string, line: string) => Promise<{ stored: number; reason?: string }>;

async function post(token: string, path: string, body: string, type = 'text/plain') {
  const answer = await fetch(service.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    body,
  });
  return (await answer.json()) as Record<string, never>;
}
const told = (stored: number, reason?: string) => ({ stored, ...(reason === undefined ? {} : { reason }) });

const bulk =
  (document: (line: string) => object): Send =>
  async (token, line) => {
    const body = `{"create":{}}\n${JSON.stringify(document(line))}\n`;
    const { items } = (await post(token, '/_bulk', body, 'application/x-ndjson')) as unknown as {
      items: { create: { status: number; result?: string; error?: { reason: string } } }[];
    };
    const [{ create }] = items as [(typeof items)[0]];
    return told(create.result === 'created' ? 1 : 0, create.error?.reason);
  };
const otlp =
  (logRecord: (line: string) => object): Send =>
  async (token, line) => {
    const request = { resourceLogs: [{ scopeLogs: [{ logRecords: [logRecord(line)] }] }] };
    const before = await stored();
    const answer = (await post(token, '/v1/logs', JSON.stringify(request), 'application/json')) as {
      partialSuccess?: { errorMessage: string };
    };
    return told((await stored()) - before, answer.partialSuccess?.errorMessage);
  };
const splunk =
  (path: string, envelope: (line: string) => string): Send =>
  async (token, line) => {
    const before = await stored();
    const answer = (await post(token, path, envelope(line))) as { errors?: { reason: string }[] };
    return told((await stored()) - before, answer.errors?.[0]?.reason);
  };
async function stored(): Promise<number> {
  const { events } = await service.store.status();
  return events.network + events.dns;
}

const ways: readonly [string, Send][] = [
  [
    'POST /api/v1/ingest',
    async (token, line) => {
      const { data } = (await post(token, '/api/v1/ingest', line)) as unknown as {
        data: { accepted: number; errors: { reason: string }[] };
      };
      return told(data.accepted, data.errors[0]?.reason);
    },
  ],
  ['rsyslog, in `message`', bulk((message) => ({ message, host: 'tap-1' }))],
  ['Filebeat', bulk((line) => ({ event: { original: line }, message: line, agent: { name: 'tap-1' } }))],
  ['Fluent Bit', bulk((log) => ({ '@timestamp': '2026-01-01T00:00:00Z', log }))],
  ['syslog-ng, as an event', splunk('/services/collector/event', (event) => JSON.stringify({ event }))],
  ['Splunk, raw', splunk('/services/collector/raw', (line) => line)],
  [
    'a collector that follows files',
    otlp((stringValue) => ({
      body: { stringValue },
      attributes: [{ key: 'log.file.name', value: { stringValue: 'conn.log' } }],
    })),
  ],
];

describe.each(ways)('lines of Zeek TSV in separate bodies: %s', (_, send) => {
  let token: string;
  beforeAll(async () => {
    token = await newSensor();
  });

  test('are rejected with advice if their header was not yet received', async () => {
    const { stored, reason } = await send(token, conn.row('C0'));
    expect(stored).toBe(0);
    expect(reason).toMatch(/no header of Zeek TSV describes it; send .*#fields.*LogAscii::use_json=T/);
  });

  test('are stored according to the header that was received before', async () => {
    for (const line of conn.header) expect((await send(token, line)).reason ?? '').not.toMatch(/rejected|parse|header/);
    expect(await send(token, conn.row('C1'))).toEqual({ stored: 1 });
  });

  test('are distinguished by their columns, whichever header was last', async () => {
    for (const line of [...dns.header, ...weird.header]) await send(token, line);
    for (const row of [conn.row('C2'), dns.row('D1'), conn.row('C3')])
      expect(await send(token, row)).toEqual({ stored: 1 });
    expect(await send(token, weird.row('W1'))).toEqual({ stored: 0 });
  });

  test('are parsed by the newest header of their log', async () => {
    const wider = header(
      'conn',
      'ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto conn_state orig_bytes vlan inner_vlan',
      'time string addr port addr port enum string count int int',
    );
    for (const line of wider) await send(token, line);
    expect(await send(token, `${conn.row('C4')}\t7\t-`)).toEqual({ stored: 1 });
    expect((await send(token, conn.row('C5'))).stored).toBe(0);
  });
});

test('headers of one principal do not apply to rows of another principal', async () => {
  const [one, other] = [await newSensor(), await newSensor()];
  const send = ways[0]![1];
  for (const line of conn.header) await send(one, line);
  expect((await send(other, conn.row('C6'))).stored).toBe(0);
});

let sensors = 0;
/** Returns a token of a new principal. */
async function newSensor(): Promise<string> {
  const name = `tap-${sensors++}`;
  const json = { name, kind: 'sensor', roles: ['sensor'] };
  const made = await service.call('createPrincipal', 'POST /api/v1/principals', { token: admin, json });
  const principal_id = (made.body as { data: { id: string } }).data.id;
  const issued = await service.call('issueToken', 'POST /api/v1/tokens', {
    token: admin,
    json: { name, scopes: ['sensor'], principal_id },
  });
  return (issued.body as { data: { attributes: { token: string } } }).data.attributes.token;
}

test('rows that match the headers of two logs are rejected with an error that names both logs', async () => {
  const token = await newSensor();
  const send = ways[0]![1];
  const twin = conn.header.map((line) => line.replace('#path\tconn', '#path\ttwin'));
  for (const line of [...conn.header, ...twin]) await send(token, line);
  const { stored, reason } = await send(token, conn.row('C7'));
  expect([stored, reason]).toEqual([0, expect.stringMatching(/^matches the headers of conn and twin; send/)]);
});
