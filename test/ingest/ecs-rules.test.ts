import { describe, expect, it } from 'vitest';
import { RecordRules } from '../../src/detect/record-rules.ts';
import { parseSigma } from '../../src/detect/sigma/parse-document.ts';
import { compileRules } from '../../src/detect/sigma/rule-set.ts';
import { parseBody } from '../../src/ingest/parse-body.ts';
import * as ecs from './ecs-documents.ts';
import { detectors, home, receivedAt } from './ingesting.ts';

describe('rules match ECS documents', () => {
  const rule = (name: string, logsource: string, selection: string) => `title: ${name}
name: ${name}
logsource: {${logsource}}
detection: {selection: {${selection}}, condition: selection}
`;
  const matching = (source: string, document: object) => {
    const { documents, problems } = parseSigma(source);
    expect(problems).toEqual([]);
    const set = compileRules(documents);
    expect(set.refused).toEqual([]);
    const bytes = new Uint8Array(Buffer.from(JSON.stringify(document))).buffer;
    const { findings } = parseBody(
      { pieces: [bytes], length: bytes.byteLength, mediaType: 'ndjson', receivedAt, home, digest: false },
      { ...detectors, rules: new RecordRules(set) },
    );
    return findings.filter(({ rule_source }) => rule_source === 'sigma');
  };

  const firewall = 'category: firewall';
  const names = 'category: dns';
  const proxy = 'category: proxy';
  const cases: [string, string, object][] = [
    [firewall, 'destination.port: 443, source.ip|cidr: 10.0.0.0/8', ecs.flow],
    [firewall, 'id.resp_p: 443, proto: tcp', ecs.flow],
    [firewall, 'dst_port: 443, dst_ip: 203.0.113.7', ecs.flow],
    [firewall, 'destination.port: 443, conn_state: RSTO', ecs.ecsConn],
    ['product: zeek, service: conn', 'id.resp_p: 443, history|contains: R', ecs.ecsConn],
    ['product: zeek, service: conn', 'id.resp_p: 443', ecs.flow],
    [firewall, 'dst_port: 443, network.state: closed', ecs.ecsEveFlow],
    ['product: suricata, service: flow', 'flow.reason: timeout', ecs.ecsEveFlow],
    ['product: suricata, service: alert', 'rule.name|contains: Lookup', ecs.ecsAlert],
    ['product: suricata, service: alert', 'alert.signature|contains: Lookup', ecs.ecsAlert],
    [names, 'dns.question.name|endswith: .example.org, dns.response.code: NOERROR', ecs.dns],
    [names, 'query|endswith: .example.org, record_type: A, answers: 192.0.2.80', ecs.dns],
    [names, 'query|endswith: .example.org, answer: 192.0.2.80', ecs.ecsZeekDns],
    ['product: zeek, service: dns', 'qtype_name: A, rejected: false', ecs.ecsZeekDns],
    ['product: zeek, service: dns', 'qtype_name: A, RD: true', ecs.dns],
    [names, 'dns.answers.data: 192.0.2.80', ecs.ecsEveAnswer],
    [proxy, 'url.original: /a.exe, http.request.method: GET', ecs.http],
    [proxy, 'cs-host: files.example, c-uri|endswith: .exe, cs-method: GET', ecs.http],
    ['product: zeek, service: http', 'host: files.example, uri: /a.exe, method: GET', ecs.http],
    ['product: zeek, service: ssl', 'server_name: s.example, established: true', ecs.tls],
    ['product: ecs, service: tls', 'tls.client.server_name: s.example', ecs.tls],
    [
      'product: zeek, service: http',
      'host: files.example, status_msg: OK',
      {
        ...ecs.http,
        event: { ...ecs.http.event, dataset: 'zeek.http' },
        zeek: { http: { status_msg: 'OK' } },
      },
    ],
    [
      'product: zeek, service: dce_rpc',
      'endpoint: svcctl, id.resp_h: 203.0.113.7',
      { ...ecs.ecsConn, zeek: { dce_rpc: { endpoint: 'svcctl' }, session_id: 'C' } },
    ],
  ];
  it.each(cases)('with {%s} {%s}', (logsource, selection, document) => {
    const found = matching(rule('seen', logsource, selection), document);
    expect(found).toMatchObject([{ rule_id: 'seen', src_ip: expect.any(String), dst_ip: expect.any(String) }]);
    const [missed] = matching(rule('seen', logsource, `${selection}, src_port: 1`), document);
    expect(missed).toBeUndefined();
  });

  it('in all notations, with equal findings', () => {
    const source = rule('seen', names, 'query|endswith: .example.org');
    for (const document of [ecs.dns, ecs.dotted(ecs.dns), ecs.dotted(ecs.dns, 1)])
      expect(matching(source, document)).toMatchObject([
        {
          src_ip: '10.0.0.5',
          dst_ip: '10.0.0.1',
          dst_port: 53,
          transport: 'udp',
          domain: 'www.example.org',
          timestamp: Date.parse(ecs.at),
          event: { block: 0, row: 0 },
          evidence: { query: 'www.example.org' },
        },
      ]);
  });
});
