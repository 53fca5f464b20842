import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseSigma } from '../../../src/detect/sigma/parse-document.ts';
import { compileRules, type RuleSet } from '../../../src/detect/sigma/rule-set.ts';
import { matches } from './rules.ts';

const folder = join(process.env.CANDOR_SHARED ?? join(import.meta.dirname, '../../../../shared'), 'data', 'sigma');

interface Read {
  readonly file: string;
  readonly parsed: ReturnType<typeof parseSigma>;
}

function read(pattern: string): Read[] {
  const files = globSync(pattern, { cwd: folder }).toSorted();
  return files.map((file) => ({ file, parsed: parseSigma(readFileSync(join(folder, file), 'utf8')) }));
}

describe.skipIf(!existsSync(folder))('the public rules', () => {
  let rules: readonly Read[];
  let set: RuleSet;
  beforeAll(() => {
    rules = read('{rules,unsupported}/**/*.yml');
    set = compileRules(rules.flatMap(({ parsed }) => parsed.documents));
  });

  it('are 96: 58 are accepted, 24 are rejected when compiled, and 14 when parsed', () => {
    expect(rules.length).toBe(96);
    expect(set.rules.length).toBe(58);
    expect(set.refused.length).toBe(24);
    expect(rules.filter(({ parsed }) => parsed.problems.length > 0).length).toBe(14);
  });

  it('for other products are rejected, and the reason names the product', () => {
    const reasons = Map.groupBy(set.refused, ({ problems }) => problems.map(({ reason }) => reason).join());
    expect(Object.fromEntries([...reasons].map(([reason, of]) => [reason, of.length]))).toEqual({
      "is for 'cisco', which is not a supported log source": 15,
      "is for 'fortigate', which is not a supported log source": 7,
      "is for 'huawei', which is not a supported log source": 1,
      "is for 'juniper', which is not a supported log source": 1,
    });
  });

  it('with Sigma 1 aggregations are rejected with a reference to correlation rules; two more for Sigma 1 dates', () => {
    const broken = rules.filter(({ parsed }) => parsed.problems.length > 0);
    expect(broken.every(({ file }) => file.startsWith('unsupported'))).toBe(true);
    const counting = broken.filter(({ parsed }) =>
      parsed.problems.some(({ reason }) => reason.includes('correlation rule')),
    );
    expect(counting.length).toBe(12);
    const others = broken.filter((one) => !counting.includes(one));
    expect(others.map(({ file }) => basename(file))).toEqual([
      'net_dns_large_domain_name.yml',
      'zeek_http_exfiltration_compressed_files.yml',
    ]);
    for (const { parsed } of others) expect(parsed.problems.map(({ field }) => field)).toEqual(['date', 'modified']);
  });

  it('apply to every sensor that has their fields', () => {
    const kinds = Map.groupBy(set.rules, (rule) => rule.kinds.join(' '));
    expect(Object.fromEntries([...kinds].map(([of, its]) => [of, its.length]))).toEqual({
      'zeek.dns suricata.dns ecs.dns candor.dns_event': 7,
      'suricata.flow ecs.connection': 1,
      'zeek.dce_rpc': 3,
      'zeek.dns candor.dns_event': 1,
      'zeek.dns candor.dns_event ecs.dns': 3,
      'zeek.dns': 1,
      'zeek.http ecs.http': 3,
      'zeek.http suricata.http ecs.http': 29,
      'zeek.kerberos': 1,
      'zeek.rdp': 1,
      'zeek.smb_files': 7,
      'zeek.x509': 1,
    });
    expect(
      set.rules.filter(({ missingFields }) => missingFields.length > 0).map(({ missingFields }) => missingFields),
    ).toEqual([['blocked']]);
  });

  it.each([
    ['zeek.dns', { query: 'x.onion.to' }, 'DNS TOR Proxies'],
    ['suricata.dns', { dns: { type: 'query', rrname: 'API.Telegram.org' } }, 'Telegram Bot API Request'],
    ['candor.dns_event', { query: 'aaa.stage.12345678.example.com' }, 'Cobalt Strike DNS Beaconing'],
    ['zeek.http', { host: 'a.example', uri: '/', user_agent: '' }, 'HTTP Request With Empty User Agent'],
    [
      'suricata.http',
      { http: { hostname: 'evil.ddns.net.hopto.org', url: '/a/b.EXE?x=1' } },
      'Download from Suspicious Dyndns Hosts',
    ],
    ['zeek.http', { host: 'x.pastebin.com', uri: '/raw/abc' }, 'Raw Paste Service Access'],
    ['zeek.smb_files', { path: String.raw`\\host\IPC$`, name: 'spoolss' }, 'SMB Spoolss Name Piped Usage'],
    ['zeek.rdp', { 'id.orig_h': '203.0.113.9' }, 'Publicly Accessible RDP Service'],
    [
      'zeek.kerberos',
      { request_type: 'TGS', cipher: 'rc4-hmac', service: 'cifs/host' },
      'Kerberos Network Traffic RC4 Ticket Encryption',
    ],
  ])('match the %s record %j: %s', (kind, record, title) => {
    expect(matches(set, kind, record)).toContain(title);
  });

  it('do not match records that their exceptions cover', () => {
    expect(matches(set, 'zeek.rdp', { id: { orig_h: '10.0.0.1' } })).toEqual([]);
    expect(matches(set, 'zeek.dns', { Z: 0, query: 'x.nanopool.org', rejected: true, answers: [] })).toEqual([]);
    expect(matches(set, 'zeek.dns', { Z: 0, query: 'x.nanopool.org', rejected: false })).toEqual([
      'DNS Events Related To Mining Pools',
    ]);
    const odd = { Z: 1, query: 'a.example', qtype_name: 'A', id_resp_p: 53 };
    expect(matches(set, 'zeek.dns', odd)).toEqual(['Suspicious DNS Z Flag Bit Set']);
    expect(matches(set, 'zeek.dns', { ...odd, qtype_name: 'MX' })).toEqual([]);
    expect(matches(set, 'zeek.dns', { ...odd, id_resp_p: 137 })).toEqual([]);
  });
});

describe.skipIf(!existsSync(folder))("the specification's samples", () => {
  it('are valid', () => {
    const samples = read('spec/tests/schema/**/*.yml');
    expect(samples.length).toBe(12);
    for (const { file, parsed } of samples) expect([file, parsed.problems]).toEqual([file, []]);
    expect(samples.map(({ parsed }) => parsed.documents[0]?.kind)).toEqual([
      ...Array(8).fill('correlation'),
      ...Array(2).fill('filter'),
      ...Array(2).fill('rule'),
    ]);
  });
});
