import { base62, type Random, random } from './random.ts';

type Row = readonly [
  weight: number,
  who: string,
  /** 0 for a random port. */
  port: number,
  proto: 'tcp' | 'udp',
  service: string | undefined,
  state: string,
  history: string,
  medianBytesOut: number,
  medianBytesIn: number,
  medianSeconds: number,
];

/** A site: offices, servers, and scanners from outside. */
const mix = [
  [30, 'sites', 443, 'tcp', 'ssl', 'SF', 'ShADadFf', 1800, 9000, 4],
  [22, 'resolvers', 53, 'udp', 'dns', 'SF', 'Dd', 44, 120, 0.02],
  [9, 'sites', 80, 'tcp', 'http', 'SF', 'ShADadfF', 420, 5200, 0.6],
  [4, 'sites', 443, 'udp', 'quic', 'SF', 'Dd', 3200, 24_000, 12],
  [10, 'callers', 22, 'tcp', 'ssh', 'SF', 'ShAdDaFf', 2100, 2600, 2],
  [4, 'servers', 22, 'tcp', 'ssh', 'SF', 'ShAdDaFf', 2100, 2600, 90],
  [8, 'scanners', 0, 'tcp', undefined, 'REJ', 'Sr', 0, 0, 0.001],
  [4, 'scanners', 0, 'tcp', undefined, 'S0', 'S', 0, 0, 3],
  [5, 'servers', 445, 'tcp', 'gssapi,smb', 'SF', 'ShADadFf', 16_000, 120_000, 40],
  [2, 'clocks', 123, 'udp', 'ntp', 'SF', 'Dd', 48, 48, 0.03],
  [2, 'callers', 25, 'tcp', 'smtp', 'RSTO', 'ShADadR', 24_000, 900, 1.8],
] as const satisfies readonly Row[];

/** One server that the Internet scans: most peers are seen once, and half of the lines are refused connections. */
const hostMix = [
  [40, 'passers', 0, 'tcp', undefined, 'REJ', 'Sr', 0, 0, 0.001],
  [12, 'passers', 22, 'tcp', 'ssh', 'SF', 'ShAdDaFf', 2100, 2600, 2],
  [8, 'passers', 80, 'tcp', 'http', 'SF', 'ShADadfF', 420, 5200, 0.6],
  [15, 'sweepers', 0, 'tcp', undefined, 'REJ', 'Sr', 0, 0, 0.001],
  [5, 'sweepers', 0, 'tcp', undefined, 'S0', 'S', 0, 0, 3],
  [8, 'regulars', 443, 'tcp', 'ssl', 'SF', 'ShADadFf', 1800, 9000, 4],
  [8, 'regulars', 80, 'tcp', 'http', 'SF', 'ShADadfF', 420, 5200, 0.6],
  [3, 'resolvers', 53, 'udp', 'dns', 'SF', 'Dd', 44, 120, 0.02],
  [1, 'updates', 443, 'tcp', 'ssl', 'SF', 'ShADadFf', 1800, 900_000, 4],
] as const satisfies readonly Row[];

/** A flood from forged addresses: few of its packets get an answer. */
const floodMix = [
  [6, 'any', 0, 'tcp', undefined, 'S0', 'S', 0, 0, 3],
  [1, 'any', 0, 'tcp', undefined, 'REJ', 'Sr', 0, 0, 0.001],
  [1, 'any', 0, 'udp', undefined, 'SF', 'Dd', 60, 120, 0.02],
] as const satisfies readonly Row[];

/** Returns a table of slots for random draws; each row of a mix has as many slots as its weight. */
const slotsOf = <R extends Row>(rows: readonly R[]): R[] =>
  rows.flatMap((row) => Array.from({ length: row[0] }, () => row));
const slots = slotsOf(mix);
const hostSlots = slotsOf(hostMix);
const floodSlots = slotsOf(floodMix);

/** The hosts of the site. */
interface Site {
  /** Internal hosts in descending order of traffic. */
  readonly inside: readonly string[];
  readonly outside: readonly string[];
  /** Destinations that each host of `inside` uses repeatedly, the most frequent first. */
  readonly favourites: readonly (readonly string[])[];
  readonly resolvers: readonly string[];
  readonly servers: readonly string[];
  /** Internal hosts that are reachable from the Internet. */
  readonly open: readonly string[];
  readonly clocks: readonly string[];
}

/** Originator and responder. */
type Ends = readonly [string, string];

const between = {
  sites: (rng, { inside, outside, favourites }) => {
    const n = rng.zipf(inside.length);
    const known = favourites[n]!;
    return [inside[n]!, rng.chance(0.9) ? known[rng.zipf(known.length)]! : outside[rng.zipf(outside.length)]!];
  },
  resolvers: (rng, { inside, outside, resolvers }) => {
    const resolver = rng.pick(resolvers);
    return rng.chance(0.8) ? [inside[rng.zipf(inside.length)]!, resolver] : [resolver, outside[rng.zipf(40)]!];
  },
  servers: (rng, { inside, servers }) => [inside[rng.zipf(inside.length)]!, servers[rng.zipf(servers.length)]!],
  callers: (rng, { outside, open }) => [outside[rng.zipf(outside.length)]!, open[rng.zipf(open.length)]!],
  scanners: (rng, { outside, open }) => [outside[rng.zipf(outside.length)]!, rng.pick(open)],
  clocks: (rng, { inside, clocks }) => [inside[rng.zipf(inside.length)]!, rng.pick(clocks)],
} as const satisfies Record<string, (rng: Random, site: Site) => Ends>;

/**
 * Yields `count` Zeek conn lines for measurements, like those of a real site's sensor: 350 to 410 bytes on average, a
 * unique identifier per line, about 15,000 addresses of very unequal weight, ports over the whole range, 300
 * connections per second. Users return to earlier destinations, several times in a row, query their resolvers and use
 * their servers; external hosts connect and scan. Among 8,000 lines, 51 in a hundred have a pair of addresses and a
 * port that no earlier line has; among 100,000 lines, 33 in a hundred. An internet-facing host that is scanned all day
 * had 41 and 40 in a hundred; a small office had 8 in a hundred among 8,000 lines. Lines have no line feed. This is a
 * generator, so that millions of lines need no memory.
 */
export function connLines(seed: number, count: number, start?: number): Generator<string, void> {
  const rng = random(seed);
  const site = newSite(rng);
  const latest: { -readonly [who in keyof typeof between]?: Ends } = {};
  return linesOf(rng, count, start, () => {
    const row = rng.pick(slots);
    const who = row[1];
    const ends = latest[who] !== undefined && rng.chance(0.45) ? latest[who] : between[who](rng, site);
    latest[who] = ends;
    return [row, ends];
  });
}

/**
 * Yields similar lines of one server with up to 40,000 peers on the Internet. 60 in a hundred lines are from peers that
 * return only after 36,000 others; 20 are from 200 scanners that try all ports.
 */
export function hostLines(seed: number, count: number, start?: number): Generator<string, void> {
  const rng = random(seed);
  const server = '10.20.99.10';
  const peers = addresses(rng, 40_000, () => outsider(rng));
  const [regulars, passers] = [peers.slice(0, 4000), peers.slice(4000)];
  let passed = 0;
  const ends = {
    passers: () => [passers[passed++ % passers.length]!, server],
    sweepers: () => [regulars[rng.zipf(200)]!, server],
    regulars: () => [regulars[rng.zipf(regulars.length)]!, server],
    resolvers: () => [server, regulars[rng.int(0, 2)]!],
    updates: () => [server, regulars[rng.int(2, 12)]!],
  } as const satisfies Record<(typeof hostMix)[number][1], () => Ends>;
  return linesOf(rng, count, start, () => {
    const row = rng.pick(hostSlots);
    return [row, ends[row[1]]()];
  });
}

/**
 * Yields similar lines of a flood from forged addresses: nearly every line has a new source, a new destination and a
 * new port. This is the worst case for code that remembers pairs.
 */
export function floodLines(seed: number, count: number, start?: number): Generator<string, void> {
  const rng = random(seed);
  return linesOf(rng, count, start, () => {
    const inside = `10.${rng.int(100, 200)}.${rng.int(0, 256)}.${rng.int(1, 255)}`;
    return [rng.pick(floodSlots), [outsider(rng), inside]];
  });
}

/** Returns a random public address, because forged addresses are not limited to the documentation ranges. */
const outsider = (rng: Random) => `${rng.int(128, 168)}.${rng.int(100, 200)}.${rng.int(0, 256)}.${rng.int(1, 255)}`;

function* linesOf(
  rng: Random,
  count: number,
  start = 1_760_000_000_000,
  next: () => readonly [Row, Ends],
): Generator<string, void> {
  let micros = start * 1000;
  for (let i = 0; i < count; i++) {
    micros += Math.ceil(rng.exponential(3300));
    yield line(rng, micros, ...next());
  }
}

function line(rng: Random, micros: number, row: Row, [orig, resp]: Ends): string {
  const [, , fixedPort, proto, service, state, history, outMedian, inMedian, secondsMedian] = row;
  const port = fixedPort === 0 ? rng.int(1, 65536) : fixedPort;
  const header = proto === 'tcp' ? 40 : 28;
  const sent = outMedian === 0 ? 0 : Math.round(rng.logNormal(outMedian, 0.8));
  const received = inMedian === 0 ? 0 : Math.round(rng.logNormal(inMedian, 1));
  const setUp = proto === 'tcp' ? 3 : 0;
  const sentPackets = Math.max(1, setUp + Math.ceil(sent / 1448));
  const receivedPackets = state === 'S0' ? 0 : Math.max(1, setUp + Math.ceil(received / 1448));
  const duration = rng.logNormal(secondsMedian, 0.9).toFixed(6);
  return (
    `{"ts":${(micros / 1e6).toFixed(6)},"uid":"C${rng.text(17, base62)}",` +
    `"id.orig_h":"${orig}","id.orig_p":${rng.int(32768, 61000)},` +
    `"id.resp_h":"${resp}","id.resp_p":${port},"proto":"${proto}",` +
    `${service === undefined ? '' : `"service":"${service}",`}"duration":${duration},` +
    `"orig_bytes":${sent},"resp_bytes":${received},"conn_state":"${state}",` +
    `"local_orig":${isInside(orig)},"local_resp":${isInside(resp)},"missed_bytes":0,"history":"${history}",` +
    `"orig_pkts":${sentPackets},"orig_ip_bytes":${sent + sentPackets * header},` +
    `"resp_pkts":${receivedPackets},"resp_ip_bytes":${received + receivedPackets * header}}`
  );
}

const isInside = (address: string) => address.startsWith('10.');

function newSite(rng: Random): Site {
  const inside = addresses(rng, 600, () => `10.20.${rng.int(0, 32)}.${rng.int(1, 255)}`);
  const outside = addresses(rng, 14_400, () => `198.${rng.int(18, 20)}.${rng.int(0, 256)}.${rng.int(1, 255)}`);
  const favourites = inside.map(() => Array.from({ length: 24 }, () => outside[rng.zipf(outside.length)]!));
  // Hosts with a role are taken from the end of `inside`, so they cause the least traffic as clients.
  return {
    inside,
    outside,
    favourites,
    resolvers: inside.slice(-2),
    servers: inside.slice(-14, -2),
    open: inside.slice(-20, -14),
    clocks: outside.slice(0, 4),
  };
}

function addresses(rng: Random, count: number, make: () => string): string[] {
  const found = new Set<string>();
  while (found.size < count) found.add(make());
  // Begins with the set's insertion order, then shuffles, so that neighbours in rank are not neighbours in
  // the network.
  const list = [...found];
  for (let i = list.length - 1; i > 0; i--) {
    const j = rng.int(0, i + 1);
    const kept = list[i]!;
    list[i] = list[j]!;
    list[j] = kept;
  }
  return list;
}
