import { mulberry32 } from './conn-records.ts';

/**
 * Returns seeded rules in the style of public ones: lists of name endings, name parts and whole values, pairs of parts
 * that must both be present, expressions, ports with address blocks, numbers. One in 250 has no literal and is always
 * evaluated, as among public rules. Half are for DNS, half for connections.
 */
export function sigmaRules(count: number, seed = 1): string[] {
  const random = mulberry32(seed);
  const below = (n: number) => Math.floor(random() * n);
  const label = () => Array.from({ length: 4 + below(9) }, () => letters[below(letters.length)]).join('');
  const domain = () => `${label()}.${zones[below(zones.length)]}`;
  const many = (make: () => unknown) => Array.from({ length: 1 + below(9) }, make);
  const ipv4 = () => `${1 + below(222)}.${below(256)}.${below(256)}.${below(256)}`;
  const names: (() => Search)[] = [
    () => ({ 'query|endswith': many(() => `.${domain()}`) }),
    () => ({ 'query|endswith': many(() => `.${domain()}`) }),
    () => ({ 'query|contains': many(label) }),
    () => ({ query: many(domain) }),
    () => ({ 'query|contains|all': [label(), label()] }),
    () => ({ qtype_name: 'TXT', 'query|contains': label() }),
    () => ({ 'query|re': `^[a-f0-9]{16,}\\.${label()}\\.` }),
    () => ({ 'answers|startswith': many(() => ipv4().slice(0, -2)) }),
  ];
  const connections: (() => Search)[] = [
    () => ({ 'id.resp_h': many(ipv4) }),
    () => ({ 'id.resp_h': many(ipv4) }),
    () => ({ 'id.resp_p': many(() => 1024 + below(60_000)), conn_state: 'SF' }),
    () => ({ 'id.resp_p': 1024 + below(60_000), 'id.resp_h|cidr': `${ipv4()}/16` }),
    () => ({ 'history|startswith': many(label), service: 'ssh' }),
    () => ({ 'id.orig_h': ipv4(), 'orig_bytes|gt': below(1e6) }),
  ];
  return Array.from({ length: count }, (_, at) => {
    const dns = at % 2 === 0;
    const makes = dns ? names : connections;
    const always = dns ? { 'query|re': '^[b-df-hj-np-tv-z]{25,}\\.' } : { 'id.resp_h|cidr': `${ipv4()}/24` };
    const selection = at % 250 < 2 && at >= 250 ? always : makes[below(makes.length)]!();
    const filter = dns ? { 'query|endswith': ['.arpa', '.local'] } : { 'id.orig_h|cidr': '192.0.2.0/24' };
    return JSON.stringify({
      title: `Rule ${at}`,
      logsource: { product: 'zeek', service: dns ? 'dns' : 'conn' },
      detection: { selection, filter, condition: 'selection and not filter' },
    });
  });
}

type Search = Readonly<Record<string, unknown>>;

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789-';
const zones = ['com', 'net', 'org', 'info', 'top', 'xyz', 'ru', 'duckdns.org', 'ddns.net', 'io'];

/** Start of the lines, in epoch milliseconds. */
export const dnsLinesStart = 1_767_225_600_000;

/** Returns seeded DNS lines in Zeek's format: few hosts of many domains, with a few answers each. */
export function dnsLines(count: number): string[] {
  const random = mulberry32(7);
  const below = (n: number) => Math.floor(random() * n);
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      ts: (dnsLinesStart + at * 10) / 1000,
      uid: `C${at.toString(36).padStart(17, '0')}`,
      'id.orig_h': `10.0.${below(4)}.${below(250)}`,
      'id.orig_p': 1024 + below(60_000),
      'id.resp_h': '10.0.0.1',
      'id.resp_p': 53,
      proto: 'udp',
      trans_id: below(65_536),
      query: `${hosts[below(hosts.length)]}.${below(3000).toString(36)}-cdn.Example${below(900)}.${['com', 'net', 'org'][below(3)]}`,
      qclass_name: 'C_INTERNET',
      qtype: 1,
      qtype_name: below(20) === 0 ? 'TXT' : 'A',
      rcode: 0,
      rcode_name: 'NOERROR',
      AA: false,
      TC: false,
      RD: true,
      RA: true,
      Z: 0,
      answers: Array.from(
        { length: 1 + below(3) },
        () => `${93 + below(60)}.${below(256)}.${below(256)}.${below(256)}`,
      ),
      TTLs: [60, 60, 60],
      rejected: false,
    }),
  );
}

const hosts = ['www', 'api', 'mail', 'static', 'img', 'login', 'cdn-7', 'telemetry', 'update', 'edge-star-mini'];
