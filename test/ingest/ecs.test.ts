import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as ecs from './ecs-documents.ts';
import { events, one, parse } from './ingesting.ts';

type Document = Readonly<Record<string, unknown>>;

const shapes = [
  ['as objects', (document: Document) => document],
  ['with dots', (document: Document) => ecs.dotted(document)],
  ['mixed', (document: Document) => ecs.dotted(document, 1)],
] as const;

describe.each(shapes)('an ECS document, %s', (_, shape) => {
  it('becomes a network event if it is a flow of Packetbeat', () => {
    expect(one(shape(ecs.flow))).toEqual({
      timestamp: ecs.at,
      duration_ms: 1500.25,
      src_ip: '10.0.0.5',
      src_port: 50001,
      src_mac: '02:42:ac:13:00:07',
      dst_ip: '203.0.113.7',
      dst_port: 443,
      transport: 'tcp',
      src_bytes: 500,
      dst_bytes: 1000,
      src_packets: 5,
      dst_packets: 7,
      state: 'closed',
      direction: 'outbound',
      community_id: '1:x',
      connection_id: `EQQA@${ecs.at}`,
      sensor: 'tap-1',
      source: 'ecs',
      severity: 'informational',
    });
  });

  it('becomes a DNS event if it is a DNS transaction', () => {
    expect(one(shape(ecs.dns))).toEqual({
      timestamp: ecs.at,
      src_ip: '10.0.0.5',
      src_port: 50001,
      dst_ip: '10.0.0.1',
      dst_port: 53,
      transport: 'udp',
      kind: 'transaction',
      transaction_id: 4711,
      query: 'www.example.org',
      qtype: 'A',
      qclass: 'IN',
      rcode: 0,
      rcode_name: 'NOERROR',
      answers: [
        { type: 'CNAME', ttl: 300, data: 'web.example.org' },
        { type: 'A', ttl: 60, data: '192.0.2.80' },
      ],
      authoritative: false,
      truncated: false,
      recursion_desired: true,
      recursion_available: true,
      rejected: false,
      rtt_ms: 12.346,
      community_id: undefined,
      sensor: 'tap-1',
      source: 'ecs',
      severity: 'informational',
    });
  });

  it.each([
    ['conn', ecs.ecsConn, ecs.zeekConn],
    ['conn, Filebeat’s module', ecs.moduleConn, ecs.zeekConn],
    ['dns', ecs.ecsZeekDns, ecs.zeekDns],
    ['notice', ecs.ecsNotice, ecs.zeekNotice],
    ['flow', ecs.ecsEveFlow, ecs.eveFlow],
    ['flow, Filebeat’s module', ecs.moduleEve(ecs.eveFlow), ecs.eveFlow],
    ['alert', ecs.ecsAlert, ecs.eveAlert],
    ['alert, Filebeat’s module', ecs.moduleEve(ecs.eveAlert), ecs.eveAlert],
    ['dns, Suricata', ecs.ecsEveAnswer, ecs.eveAnswer],
    ['dns, Suricata, Filebeat’s module', ecs.moduleEve(ecs.eveAnswer), ecs.eveAnswer],
  ])("has the same events and findings as the sensor's own record, with source ecs: %s", (_of, document, record) => {
    const parsed = parse([shape(document)], { sensor: 's' });
    const own = parse([record], { sensor: 's' });
    expect(own.answer.accepted).toBe(1);
    expect(parsed.answer).toEqual(own.answer);
    expect(events(parsed)).toEqual(events(own).map((event) => ({ ...event, source: 'ecs' })));
    expect(parsed.findings).toEqual(own.findings);
  });
});

const { event, source, destination, network } = ecs.flow;
const at = (change: Document) => one({ ...ecs.flow, ...change });

describe('a flow in ECS', () => {
  it.each([
    ['numbers as texts', { source: { ...source, port: '50001', bytes: '500' } }, { src_port: 50001, src_bytes: 500 }],
    [
      'lists with one item',
      { source: { ...source, ip: ['10.0.0.6'] }, network: { transport: ['UDP'] } },
      { src_ip: '10.0.0.6', transport: 'udp' },
    ],
    ['the number of its protocol', { network: { iana_number: '17' } }, { transport: 'udp' }],
    ['a missing protocol', { network: {} }, { transport: 'unknown' }],
    ['ICMPv6', { network: { transport: 'ipv6-icmp' } }, { transport: 'icmp' }],
    ['the name of its application', { network: { ...network, protocol: 'TLS' } }, { app_protocol: 'tls' }],
    ['a VLAN', { network: { ...network, vlan: { id: '7' } } }, { vlan: 7 }],
    [
      'a direction computed by another product',
      { network: { ...network, direction: 'ingress' } },
      { direction: 'outbound' },
    ],
    ['a direction in Candor’s terms', { network: { ...network, direction: 'inbound' } }, { direction: 'outbound' }],
    [
      'only the sum of both sides',
      { source: { ip: '10.0.0.5' }, destination: { ip: '203.0.113.7' } },
      { src_bytes: undefined, dst_bytes: undefined },
    ],
    ['a missing duration', { event: { ...event, duration: undefined } }, { duration_ms: 1500 }],
    [
      'an end before its start',
      { event: { ...event, duration: undefined, end: '2026-01-01T00:00:00Z' } },
      { duration_ms: undefined },
    ],
    [
      'a missing start',
      { event: { ...event, start: undefined } },
      { timestamp: '2026-01-02T03:04:20.000Z', connection_id: 'EQQA' },
    ],
    ['an event id', { flow: undefined, event: { ...event, id: 'E1' } }, { connection_id: 'E1' }],
    ['a missing answer', { destination: { ip: '203.0.113.7' } }, { state: 'attempt' }],
    ['a type without an end', { event: { ...event, type: ['connection', 'start'] } }, { state: 'open' }],
    ['a denial by a firewall', { event: { ...event, type: ['connection', 'denied'] } }, { state: 'refused' }],
    ['a type without an outcome', { event: { ...event, type: ['connection'] } }, { state: undefined }],
    ['the name of its sensor', { observer: { name: 'fw-1' } }, { sensor: 'fw-1' }],
    [
      'the category of older Packetbeat versions',
      { event: { ...event, category: 'network_traffic' } },
      { state: 'closed' },
    ],
  ])('is parsed with %s', (_, change, expected) => {
    expect(at(change)).toMatchObject(
      Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
    );
    for (const [name, value] of Object.entries(expected)) if (value === undefined) expect(at(change)[name]).toBe(value);
  });

  it.each([
    ['source.ip', { source: { ...source, ip: 'x' } }],
    ['source.ip', { source: { ...source, ip: ['10.0.0.1', '10.0.0.2'] } }],
    ['source.port', { source: { ...source, port: 70000 } }],
    ['source.mac', { source: { ...source, mac: 'x' } }],
    ['destination.bytes', { destination: { ...destination, bytes: -1 } }],
    ['destination.packets', { destination: { ...destination, packets: 'many' } }],
    ['event.duration', { event: { ...event, duration: 'long' } }],
    ['event.start', { event: { ...event, start: 'yesterday' } }],
    ['@timestamp', { '@timestamp': 'x', event: { ...event, start: undefined } }],
    ['network.transport', { network: { transport: 7 } }],
    ['network.vlan.id', { network: { vlan: { id: 5000 } } }],
    ['network.community_id', { network: { community_id: {} } }],
  ])('is rejected for its %s', (field, change) => {
    expect(parse([{ ...ecs.flow, ...change }]).answer).toMatchObject({
      rejected: 1,
      errors: [{ line: 1, field }],
    });
  });
});

describe('an ECS record of a sensor', () => {
  it.each([
    ['source.ip', { ...ecs.ecsConn, source: { ip: 'x' } }],
    ['destination.ip', { ...ecs.ecsConn, destination: {} }],
    ['source.bytes', { ...ecs.ecsConn, source: { ...source, bytes: 'x' } }],
    ['event.duration', { ...ecs.ecsConn, event: { ...ecs.ecsConn.event, duration: 'x' } }],
    ['zeek.connection.missed_bytes', { ...ecs.ecsConn, zeek: { connection: { missed_bytes: 'x' } } }],
    ['zeek.connection.state', { ...ecs.ecsConn, zeek: { connection: { state: 7 } } }],
    ['network.transport', { ...ecs.ecsConn, network: {} }],
    ['@timestamp', { ...ecs.ecsConn, '@timestamp': 'x' }],
    ['temp.duration', { ...ecs.moduleConn, temp: { duration: 'x' } }],
    ['zeek.connection.ts', { ...ecs.moduleConn, zeek: { connection: { ts: 'x' } } }],
    ['zeek.dns.TTLs', { ...ecs.ecsZeekDns, zeek: { dns: { ...ecs.ecsZeekDns.zeek.dns, TTLs: ['x'] } } }],
    ['source.ip', { ...ecs.ecsEveFlow, source: { ip: 7 } }],
    ['source.packets', { ...ecs.ecsEveFlow, source: { ...source, packets: 1.5 } }],
    ['event.start', { ...ecs.ecsEveFlow, event: { ...ecs.ecsEveFlow.event, start: 'x' } }],
    ['event.severity', { ...ecs.ecsAlert, event: { ...ecs.ecsAlert.event, severity: undefined } }],
    ['rule.id', { ...ecs.ecsAlert, rule: { name: 'x', id: 'y' } }],
    ['rule.name', { ...ecs.ecsAlert, rule: { id: 1 } }],
    ['dns.answers', { ...ecs.ecsEveAnswer, dns: { ...ecs.ecsEveAnswer.dns, answers: [7] } }],
    ['suricata.eve.flow_id', { ...ecs.ecsEveFlow, suricata: { eve: { event_type: 'flow', flow_id: 'x' } } }],
  ])('is rejected for its %s', (field, document) => {
    expect(parse([document]).answer).toMatchObject({ rejected: 1, errors: [{ line: 1, field }] });
  });

  it('keeps the digits of a long flow_id in any notation', () => {
    const long = (document: object) => JSON.stringify(document).replaceAll('"904992230150281"', '1234567890123456789');
    const lines = [long(ecs.ecsEveFlow), long(ecs.dotted(ecs.ecsEveFlow))].join('\n');
    expect(events(parse(lines)).map(({ connection_id }) => connection_id)).toEqual([
      '1234567890123456789',
      '1234567890123456789',
    ]);
  });

  it('names its sensor: as requested, else as in the record of the sensor, else as in the document', () => {
    const named = { ...ecs.ecsEveFlow.suricata.eve, host: 'eve-1', in_iface: 'en0' };
    expect(one(ecs.ecsConn).sensor).toBe('tap-1');
    expect(one({ ...ecs.ecsEveFlow, suricata: { eve: named } }).sensor).toBe('eve-1');
    expect(one({ ...ecs.ecsEveFlow, suricata: { eve: { ...named, host: undefined } } }).sensor).toBe('tap-1');
    const zeek = { ...ecs.ecsConn.zeek, connection: { ...ecs.ecsConn.zeek.connection, _node_name: 'w1' } };
    expect(one({ ...ecs.ecsConn, zeek }).sensor).toBe('w1');
    expect(one(ecs.ecsConn, { sensor: 'given' }).sensor).toBe('given');
  });

  it('has the type and the code of ICMP instead of ports', () => {
    const icmp = {
      ...ecs.ecsConn,
      network: { transport: 'icmp' },
      source: { ip: '10.0.0.5' },
      destination: { ip: '10.0.0.6' },
      zeek: { connection: { state: 'OTH', icmp: { type: 8, code: 0 } } },
    };
    expect(one(icmp)).toMatchObject({ src_port: 8, dst_port: 0, transport: 'icmp', state: 'traffic' });
  });

  it("describes hosts as the sensor's own record does", () => {
    const service = {
      '@timestamp': ecs.at,
      event: { category: ['network'], dataset: 'zeek.known_services', kind: 'event', type: ['info'] },
      server: { ip: ['10.0.0.1'], port: 53 },
      host: { ip: ['10.0.0.1'] },
      network: { application: ['DNS'], transport: 'udp' },
    };
    const ssl = {
      ...ecs.ecsConn,
      event: { ...ecs.ecsConn.event, dataset: 'zeek.ssl' },
      destination: { ip: '10.0.0.9', port: 443 },
      tls: { established: true },
      zeek: { session_id: 'C', ssl: { server: { name: 'intra.example' }, subject: 'CN=intra.example' } },
    };
    const { sightings, answer } = parse([service, ssl]);
    expect(answer).toMatchObject({ accepted: 1, ignored: 1, rejected: 0 });
    expect(sightings.map(({ at: _, ...told }) => told)).toEqual([
      { kind: 'service', ip: '10.0.0.1', port: 53, transport: 'udp', name: 'dns' },
      { kind: 'name', ip: '10.0.0.9', name: 'intra.example', from: 'tls', clients: ['10.0.0.5'] },
    ]);
  });
});

describe('DNS in ECS', () => {
  const dns = (change: Document, more: Document = {}) => ({
    ...ecs.dns,
    ...more,
    dns: { ...ecs.dns.dns, ...change },
  });
  const ends = { client: undefined, server: undefined };

  it.each([
    [
      'a query',
      dns({ type: 'query', response_code: undefined, answers: undefined, resolved_ip: undefined }),
      { kind: 'query' },
    ],
    ['a result without a type', dns({ type: undefined }), { kind: 'transaction' }],
    ['a response', dns({ type: 'response' }), { kind: 'response' }],
    [
      'a reply’s packet',
      dns({}, { ...ends, source: ecs.dns.destination, destination: ecs.dns.source }),
      { kind: 'response', src_ip: '10.0.0.5', dst_port: 53 },
    ],
    ['an id that is a text', dns({ id: '99' }), { transaction_id: 99 }],
    ['the number of a code', dns({ response_code: '5' }), { rcode: 5, rcode_name: 'REFUSED', rejected: true }],
    ['another spelling of a code', dns({ response_code: 'NXDomain' }), { rcode: 3, rcode_name: 'NXDOMAIN' }],
    [
      'an answer that is not in a list',
      dns({ answers: { data: '192.0.2.1', type: 'a' } }),
      { answers: [{ type: 'A', data: '192.0.2.1' }] },
    ],
    [
      'addresses without answers',
      dns({ answers: undefined, resolved_ip: ['192.0.2.1', '2001:db8::1'] }),
      {
        answers: [
          { type: 'A', data: '192.0.2.1' },
          { type: 'AAAA', data: '2001:db8::1' },
        ],
      },
    ],
    [
      'flags by name',
      dns({ header_flags: undefined, flags: { authoritative: true, truncated_response: false } }),
      { authoritative: true, truncated: false },
    ],
  ])('is parsed: %s', (_, document, expected) => {
    expect(one(document)).toMatchObject(expected);
  });

  it.each([
    ['dns.id', dns({ id: 'x' })],
    ['dns.id', dns({ id: 70000 })],
    ['dns.type', dns({ type: 'other' })],
    ['dns.question.name', dns({ question: { name: 7 } })],
    ['dns.answers', dns({ answers: ['x'] })],
    ['dns.answers.ttl', dns({ answers: [{ data: 'x', ttl: 'y' }] })],
    ['dns.resolved_ip', dns({ answers: undefined, resolved_ip: ['x'] })],
    ['dns.flags.authoritative', dns({ header_flags: undefined, flags: { authoritative: 'x' } })],
    ['client.ip', dns({}, { client: { ip: 'x' } })],
  ])('is rejected for its %s', (field, document) => {
    expect(parse([document]).answer).toMatchObject({ rejected: 1, errors: [{ field }] });
  });

  it('is rejected with the accepted types, if its type is another', () => {
    const reason = 'is "other", not one of query, request, answer, response';
    expect(parse([dns({ type: 'other' })]).answer).toMatchObject({ errors: [{ reason }] });
  });
});

describe('ECS documents', () => {
  const raw = JSON.stringify({ ...ecs.zeekConn, uid: 'Raw' });
  const framing = { name: 'elasticsearch_bulk', index: 'x', fields: ['status'], sender: 's' } as const;
  const ship = (document: object) => parse(`{"index":{}}\n${JSON.stringify(document)}`, { framing });

  it.each([
    ['a kind without network data', { '@timestamp': ecs.at, event: { kind: 'event', category: ['process'] } }],
    ['the contents of a connection', ecs.http],
    ['another Zeek log', { ...ecs.ecsConn, zeek: { http: { trans_depth: 1 } } }],
    ['another Suricata event type', { ...ecs.ecsEveFlow, suricata: { eve: { event_type: 'ssh' } } }],
  ])('are recognised and ignored if the kind is not stored: %s', (_, document) => {
    expect(parse([document]).answer).toMatchObject({ accepted: 0, rejected: 0, ignored: 1 });
  });

  it.each([
    ['only a time', { '@timestamp': ecs.at }],
    ['a missing time', { ...ecs.flow, '@timestamp': undefined }],
    ['a missing category', { ...ecs.flow, event: { kind: 'event' } }],
    ['missing endpoints', { ...ecs.flow, source: undefined }],
    ['a missing event', { '@timestamp': ecs.at, message: 'hello', host: { name: 'h' } }],
  ])('are not recognised, and rejected, with %s', (_, document) => {
    expect(parse([document]).answer).toMatchObject({ rejected: 1, errors: [{ field: 'line' }] });
  });

  it('that are sensor records with fields added by shippers are read as sensor records', () => {
    const added = { '@timestamp': ecs.at, event: { kind: 'event', category: ['network'] } };
    const { source: of } = one({ ...added, ...ecs.zeekConn });
    expect([of, one({ ...added, ...ecs.eveFlow }).source]).toEqual(['zeek', 'suricata']);
  });

  it('are read from their own fields, even if they contain the original line', () => {
    const document = { ...ecs.ecsConn, event: { ...ecs.ecsConn.event, original: raw } };
    expect(events(ship(document))).toEqual(events(ship(ecs.ecsConn)));
    expect(events(ship(document))).toMatchObject([{ source: 'ecs', connection_id: 'CAbc' }]);
  });

  it('are read from the original line if they have no other data', () => {
    const document = { '@timestamp': ecs.at, event: { dataset: 'zeek.connection' }, message: raw };
    expect(events(ship(document))).toMatchObject([{ source: 'zeek', connection_id: 'Raw' }]);
    const bare = { '@timestamp': ecs.at, event: { category: ['network'] }, message: raw };
    expect(events(ship(bare))).toMatchObject([{ source: 'zeek', connection_id: 'Raw' }]);
  });

  it('are also read from a message field', () => {
    const { host: _1, agent: _2, ...inner } = ecs.flow;
    const document = { host: { name: 'outer' }, message: JSON.stringify(inner) };
    expect(events(ship(document))).toMatchObject([{ source: 'ecs', sensor: 'outer' }]);
  });

  it('are required if ECS is the expected source, with errors for missing fields', () => {
    const fields = [
      { event: {} },
      { '@timestamp': ecs.at, event: {} },
      { ...ecs.flow, source: {} },
      { ...ecs.flow, destination: undefined },
    ].map((document) => parse([document], { source: 'ecs' }).answer.errors[0]?.field);
    expect(fields).toEqual(['@timestamp', 'event.category', 'source.ip', 'destination.ip']);
    expect(parse([ecs.zeekConn, ecs.eveFlow], { source: 'ecs' }).answer).toMatchObject({ rejected: 2 });
    expect(parse([ecs.flow, ecs.ecsConn], { source: 'ecs' }).answer).toMatchObject({ accepted: 2 });
    expect(parse('a\tb', { source: 'ecs' }).answer).toMatchObject({ rejected: 1 });
    expect(parse([ecs.flow], { source: 'zeek' }).answer).toMatchObject({ rejected: 1 });
  });
});

describe('any input', () => {
  const documents: readonly Document[] = [
    ecs.flow,
    ecs.dns,
    ecs.http,
    ecs.ecsConn,
    ecs.moduleConn,
    ecs.ecsZeekDns,
    ecs.ecsNotice,
    ecs.ecsEveFlow,
    ecs.ecsAlert,
    ecs.ecsEveAnswer,
  ];
  const changed = fc
    .tuple(fc.constantFrom(...documents), fc.array(fc.tuple(fc.nat(), fc.jsonValue(), fc.nat(2)), { maxLength: 4 }))
    .map(([document, changes]) => {
      const flat: Record<string, unknown> = { ...ecs.dotted(document) };
      const places = Object.keys(flat).flatMap((name) => [name, name.replace(/\.[^.]*$/, ''), `${name}.x`]);
      for (const [place, value] of changes) flat[places[place % places.length]!] = value;
      return flat;
    });

  it('is counted once per document, and later documents are parsed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(changed, fc.jsonValue()), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(undefined, 'ecs' as const),
        (all, source) => {
          const body = [...all, ecs.flow].map((one) => JSON.stringify(one)).join('\n');
          const parsed = parse(body, source === undefined ? {} : { source });
          const { accepted, rejected, ignored } = parsed.answer;
          expect(accepted + rejected + ignored).toBe(all.length + 1);
          expect(events(parsed).filter(({ connection_id }) => connection_id === `EQQA@${ecs.at}`)).not.toEqual([]);
        },
      ),
      { numRuns: 100 },
    );
  });

  it.each([
    [
      'names of built-in object properties',
      '{"@timestamp":"x","__proto__.event":1,"constructor.prototype.x":2,"event":{"__proto__":{"category":["network"]}}}',
    ],
    ['names with thousands of dots', `{"@timestamp":"x","${'a.'.repeat(50_000)}b":1}`],
    ['only dots', '{"@timestamp":"x","...":1,".":2,"":3,"event.":4,".event":5}'],
    [
      'a value and an object under one name',
      '{"@timestamp":"x","event":7,"event.category":["network"],"source.ip.x":1,"source.ip":"10.0.0.1"}',
    ],
    [
      'logs with names of built-in object properties',
      '{"@timestamp":"2026-01-01T00:00:00Z","zeek":{"constructor":{},"toString":{}},"event":{"dataset":"zeek.__proto__"},"ts":{}}\n{"@timestamp":"x"}',
    ],
    ['a name that occurs twice', '{"@timestamp":"x","event.category":1,"event":{"category":["network"]}}'],
  ])('with %s changes no prototype, and later documents are parsed', (_, line) => {
    const { answer } = parse(`${line}\n${JSON.stringify(ecs.flow)}`);
    expect(answer).toMatchObject({ accepted: 1, rejected: 1, ignored: line.includes('toString') ? 1 : 0 });
    expect(Object.prototype).not.toHaveProperty('category');
    expect({}).not.toHaveProperty('x');
  });

  it('of several records results in the same events together as separately', () => {
    const lines = [ecs.ecsConn, ecs.ecsAlert, ecs.ecsConn, ecs.ecsAlert, ecs.zeekConn, ecs.eveFlow];
    const together = parse(Array.from({ length: 3 }, () => lines).flat());
    const apart = lines.flatMap((line) => events(parse([line])));
    expect(events(together)).toEqual([...apart, ...apart, ...apart]);
  });
});
