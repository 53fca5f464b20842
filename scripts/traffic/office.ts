import type { Activity, Answer, Lookup, Scheduled } from './activity.ts';
import { domain, type Host, type Office, type Site } from './hosts.ts';
import { flow, lookup } from './packets.ts';
import { digits, type Random } from './random.ts';

/** Lines per session, measured over a simulated week: converts a rate of lines into a rate of sessions. */
const linesPerSession = { people: 6.2, machines: 1.5 };

/** Share of lines that no person caused, measured at the busiest hour. */
const machineShare = 0.12;

/** Activity in each hour of a working day, as a share of the busiest hour. On weekends, a tenth of it. */
const hours = [
  0.03, 0.03, 0.03, 0.03, 0.03, 0.04, 0.1, 0.35, 0.75, 0.95, 1, 0.95, 0.7, 0.85, 1, 0.95, 0.85, 0.6, 0.3, 0.15, 0.1,
  0.07, 0.05, 0.04,
];

const hourMs = 3_600_000;

export interface OfficeClock {
  /** Milliseconds to add to UTC for the office's local time. */
  readonly shiftMs: number;
}

/** Returns the activity of people at `time` (epoch ms), from 0 to 1, interpolated between hours. */
export function busyness(time: number, clock: OfficeClock): number {
  const local = time + clock.shiftMs;
  const hour = Math.floor(local / hourMs);
  const at = (h: number) => hours[((h % 24) + 24) % 24]! * (isWeekend(h * hourMs) ? 0.1 : 1);
  const part = local / hourMs - hour;
  return at(hour) * (1 - part) + at(hour + 1) * part;
}

function isWeekend(local: number): boolean {
  const day = new Date(local).getUTCDay();
  return day === 0 || day === 6;
}

/** Yields activity of people: a Poisson process whose rate follows the working day. Endless, in order of time. */
export function* people(
  rng: Random,
  place: Office,
  from: number,
  options: OfficeClock & { linesPerSecond: number },
): Generator<Scheduled> {
  const perSecond = (options.linesPerSecond * (1 - machineShare)) / linesPerSession.people;
  const kinds = weighted<Session>([
    [52, browse],
    [10, intranet],
    [9, checkMail],
    [12, openShare],
    [2, printDocument],
    [8, guestBrowse],
    [7, visitorOfOurSite],
  ]);
  for (let time = from; ; ) {
    time += rng.exponential(1000 / perSecond);
    if (rng.chance(busyness(time, options))) yield { time, ...kinds(rng)(rng, place, time) };
  }
}

/** Yields activity of machines, day and night. Endless, in order of time. */
export function* machines(
  rng: Random,
  place: Office,
  from: number,
  options: { linesPerSecond: number },
): Generator<Scheduled> {
  const perSecond = (options.linesPerSecond * machineShare) / linesPerSession.machines;
  const kinds = weighted<Session>([
    [30, syncTime],
    [16, ping],
    [18, queryDatabase],
    [8, sendMail],
    [8, checkForUpdates],
    [20, internetNoise],
  ]);
  for (let time = from; ; ) {
    time += rng.exponential(1000 / perSecond);
    yield { time, ...kinds(rng)(rng, place, time) };
  }
}

/**
 * Yields backups: one server after another copies its disk to the backup server, from 01:00 local time of the office.
 */
export function* backups(rng: Random, place: Office, from: number, clock: OfficeClock): Generator<Scheduled> {
  const sources = [place.servers.file, place.servers.mail, place.servers.db, place.servers.intranet, place.servers.dc1];
  const firstDay = Math.floor((from + clock.shiftMs) / (24 * hourMs));
  for (let day = firstDay; ; day++) {
    for (const [i, source] of sources.entries()) {
      const time = day * 24 * hourMs + hourMs + i * 0.4 * hourMs + rng.int(0, 60_000) - clock.shiftMs;
      if (time < from) continue;
      const bytes = Math.round(rng.logNormal(6e9, 0.8));
      const copy = {
        start: time,
        durationMs: bytes / 110_000,
        src: source.ip,
        dst: place.servers.backup.ip,
        dstPort: 873,
      };
      const shape = {
        ...copy,
        transport: 'tcp',
        srcBytes: bytes,
        dstBytes: Math.round(bytes / 4000),
      } as const;
      yield { time, sensor: 'zeek-core', truth: 'benign', activities: [flow(rng, shape)] };
    }
  }
}

type Session = (rng: Random, place: Office, time: number) => Omit<Scheduled, 'time'>;

function browse(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const client = rng.pick(place.clients);
  return seen(client, visit(rng, place, client, resolver(rng, place), time, 0.45));
}

function guestBrowse(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const guest = rng.pick(place.guests);
  return seen(guest, visit(rng, place, guest, place.servers.gateway.ip, time, 0.7));
}

/** Returns a visit to a page with its external resources: a lookup unless cached, then a few connections. */
function visit(rng: Random, place: Office, who: Host, server: string, time: number, uncached: number): Activity[] {
  const site = place.sites[rng.zipf(place.sites.length)]!;
  const activities: Activity[] = [];
  let at = time;
  for (const name of new Set([site.name, ...site.parts])) {
    const part = place.siteByName.get(name) ?? site;
    if (rng.chance(uncached)) {
      const found = resolve(rng, who.ip, server, part, at);
      activities.push(...found);
      at += Math.max(...found.map((l) => l.rttMs)) + 1;
    }
    const connections = 1 + rng.zipf(4);
    for (let i = 0; i < connections; i++)
      activities.push(webConnection(rng, ...route(rng, who, part), at + i * rng.int(1, 80)));
    at += rng.logNormal(120, 0.7);
  }
  return activities;
}

function resolve(rng: Random, client: string, server: string, site: Site, at: number): Lookup[] {
  const base = { client, server, query: site.name };
  const rttMs = () => rng.logNormal(8, 1);
  const v4: Answer[] = site.addresses.map((data) => ({ type: 'A', ttl: 300, data }));
  const v6: Answer[] = site.ipv6 === undefined ? [] : [{ type: 'AAAA', ttl: 300, data: site.ipv6 }];
  const lookups = [lookup(rng, { ...base, start: at, qtype: 'A', answers: v4, rttMs: rttMs() })];
  if (rng.chance(0.6))
    lookups.push(lookup(rng, { ...base, start: at + 0.2, qtype: 'AAAA', answers: v6, rttMs: rttMs() }));
  if (rng.chance(0.15))
    lookups.push(lookup(rng, { ...base, start: at + 0.3, qtype: 'HTTPS', answers: [], rttMs: rttMs() }));
  if (rng.chance(0.04)) {
    // The search domain is tried first, without success.
    const searched = `${site.name}.${domain}`;
    lookups.unshift(
      lookup(rng, {
        ...base,
        query: searched,
        start: at,
        qtype: 'A',
        answers: [],
        rcode: 'NXDOMAIN',
        rttMs: rttMs(),
      }),
    );
  }
  return lookups;
}

/** Uses IPv6 for most connections between two hosts that support it. */
function route(rng: Random, who: Host, site: Site): [src: string, dst: string] {
  if (who.ipv6 !== undefined && site.ipv6 !== undefined && rng.chance(0.7)) return [who.ipv6, site.ipv6];
  return [who.ip, rng.pick(site.addresses)];
}

function webConnection(rng: Random, src: string, dst: string, start: number) {
  const quic = rng.chance(0.22);
  const clear = !quic && rng.chance(0.06);
  return flow(rng, {
    start,
    durationMs: Math.min(rng.logNormal(2500, 1.6), 1_800_000),
    src,
    dst,
    dstPort: clear ? 80 : 443,
    transport: quic ? 'udp' : 'tcp',
    service: quic ? 'quic' : clear ? 'http' : 'ssl',
    srcBytes: Math.round(rng.logNormal(1800, 0.9)),
    dstBytes: Math.round(Math.min(rng.logNormal(14_000, 1.7), 4e8)),
    outcome: rng.chance(0.06) ? 'reset' : rng.chance(0.01) ? 'silent' : 'ok',
  });
}

function intranet(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const client = rng.pick(place.clients);
  const { intranet: server } = place.servers;
  const activities: Activity[] = rng.chance(0.3) ? [internalLookup(rng, place, client, server, time)] : [];
  const times = 1 + rng.zipf(5);
  for (let i = 0; i < times; i++)
    activities.push(internal(rng, client, server, 443, 'ssl', time + 15 + i * 40, 1500, 22_000, 900));
  return seen(client, activities);
}

function checkMail(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const client = rng.pick(place.clients);
  const { mail } = place.servers;
  const activities: Activity[] = rng.chance(0.2) ? [internalLookup(rng, place, client, mail, time)] : [];
  activities.push(internal(rng, client, mail, 993, 'ssl', time + 12, 900, 9000, 45_000));
  if (rng.chance(0.25)) activities.push(internal(rng, client, mail, 587, 'smtp', time + 900, 24_000, 1200, 1500));
  return seen(client, activities);
}

function openShare(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const client = rng.pick(place.clients);
  const { file } = place.servers;
  const dc = rng.chance(0.7) ? place.servers.dc1 : place.servers.dc2;
  const activities: Activity[] = [];
  if (rng.chance(0.4)) activities.push(internalLookup(rng, place, client, file, time));
  if (rng.chance(0.5)) activities.push(internal(rng, client, dc, 88, 'krb_tcp', time + 8, 1600, 1500, 6));
  if (rng.chance(0.2)) activities.push(internal(rng, client, dc, 389, 'ldap', time + 11, 800, 2600, 30));
  activities.push(internal(rng, client, file, 445, 'gssapi,smb', time + 20, 18_000, 160_000, 60_000));
  return seen(client, activities);
}

function printDocument(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const client = rng.pick(place.clients);
  const queued = internal(rng, client, place.servers.print, 631, 'http', time, 380_000, 900, 1800);
  const printed = internal(
    rng,
    place.servers.print,
    rng.pick(place.printers),
    9100,
    undefined,
    time + 2500,
    700_000,
    40,
    9000,
  );
  return seen(client, [queued, printed]);
}

/** Returns a visit from outside to the public site, which sometimes looks up the visitor's name. */
function visitorOfOurSite(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const { www } = place.servers;
  const visitor = `198.${rng.int(18, 20)}.${rng.int(0, 256)}.${rng.int(1, 255)}`;
  const times = 1 + rng.zipf(6);
  const activities: Activity[] = rng.chance(0.3) ? [reverseLookup(rng, place, www, visitor, time)] : [];
  for (let i = 0; i < times; i++) {
    const size = {
      srcBytes: Math.round(rng.logNormal(1100, 0.6)),
      dstBytes: Math.round(rng.logNormal(32_000, 1.2)),
    };
    const shape = {
      start: time + i * 30,
      durationMs: rng.logNormal(1500, 1),
      src: visitor,
      dst: www.ip,
      dstPort: 443,
    } as const;
    activities.push(flow(rng, { ...shape, ...size, transport: 'tcp', service: 'ssl' }));
  }
  return seen(www, activities);
}

function syncTime(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const { dc1 } = place.servers;
  const outside = rng.chance(0.15);
  const src = outside ? dc1 : rng.pick(place.clients);
  const dst = outside ? rng.pick(place.timeServers) : dc1.ip;
  const shape = {
    start: time,
    durationMs: rng.logNormal(outside ? 18 : 1, 0.4),
    src: src.ip,
    srcPort: 123,
    dst,
    dstPort: 123,
  };
  return seen(src, [flow(rng, { ...shape, transport: 'udp', service: 'ntp', srcBytes: 48, dstBytes: 48 })]);
}

function ping(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const { gateway } = place.servers;
  const target = rng.pick(Object.values(place.servers).filter((h) => h !== gateway && h !== place.servers.www));
  // Type 8, code 0: Zeek writes both in the ports.
  const shape = {
    start: time,
    durationMs: rng.logNormal(0.6, 0.3),
    src: gateway.ip,
    srcPort: 8,
    dst: target.ip,
    dstPort: 0,
  };
  return seen(gateway, [flow(rng, { ...shape, transport: 'icmp', srcBytes: 56, dstBytes: 56 })]);
}

function queryDatabase(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const { intranet: from, db } = place.servers;
  return seen(from, [internal(rng, from, db, 5432, 'postgresql', time, 2400, 38_000, 240)]);
}

function sendMail(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const { mail } = place.servers;
  const peer = rng.pick(place.mailPeers);
  const inbound = rng.chance(0.5);
  const asked = reverseLookup(rng, place, mail, peer, time);
  const ends = inbound ? { src: peer, dst: mail.ip } : { src: mail.ip, dst: peer };
  const shape = {
    start: time + 40,
    durationMs: rng.logNormal(1800, 0.8),
    ...ends,
    dstPort: 25,
    transport: 'tcp',
    service: 'smtp',
  } as const;
  return seen(mail, [asked, flow(rng, { ...shape, srcBytes: Math.round(rng.logNormal(30_000, 1.4)), dstBytes: 900 })]);
}

function checkForUpdates(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const client = rng.pick(place.clients);
  const site = place.sites[rng.int(0, 3)]!;
  const found = resolve(rng, client.ip, resolver(rng, place), site, time);
  return seen(client, [...found, webConnection(rng, client.ip, rng.pick(site.addresses), time + 60)]);
}

/** Returns single probes that reach every public address throughout the day. */
function internetNoise(rng: Random, place: Office, time: number): Omit<Scheduled, 'time'> {
  const { www } = place.servers;
  const src = place.strangers[rng.zipf(place.strangers.length)]!;
  const dstPort = rng.chance(0.7) ? rng.pick([22, 23, 80, 445, 3306, 3389, 5060, 6379, 8080, 8728]) : rng.int(1, 65536);
  const shape = {
    start: time,
    durationMs: 0,
    src,
    srcPort: Number(rng.text(4, digits)) + 40_000,
    dst: www.ip,
    dstPort,
  } as const;
  const probe = flow(rng, {
    ...shape,
    transport: 'tcp',
    srcBytes: 0,
    dstBytes: 0,
    outcome: rng.chance(0.6) ? 'refused' : 'silent',
  });
  return seen(www, [probe]);
}

function internal(
  rng: Random,
  from: Host,
  to: Host,
  dstPort: number,
  service: string | undefined,
  start: number,
  srcMedian: number,
  dstMedian: number,
  durationMedianMs: number,
) {
  return flow(rng, {
    start,
    durationMs: Math.min(rng.logNormal(durationMedianMs, 0.9), hourMs),
    src: from.ip,
    dst: to.ip,
    dstPort,
    transport: 'tcp',
    ...(service === undefined ? {} : { service }),
    srcBytes: Math.round(rng.logNormal(srcMedian, 0.7)),
    dstBytes: Math.round(rng.logNormal(dstMedian, 0.9)),
    outcome: rng.chance(0.02) ? 'reset' : 'ok',
  });
}

function internalLookup(rng: Random, place: Office, client: Host, target: Host, start: number): Lookup {
  const answers: Answer[] = [{ type: 'A', ttl: 1200, data: target.ip }];
  const question = {
    start,
    client: client.ip,
    server: resolver(rng, place),
    query: target.name,
    rttMs: rng.logNormal(0.8, 0.5),
  };
  return lookup(rng, { ...question, qtype: 'A', answers });
}

function reverseLookup(rng: Random, place: Office, client: Host, address: string, start: number): Lookup {
  const query = `${address.split('.').reverse().join('.')}.in-addr.arpa`;
  const question = {
    start,
    client: client.ip,
    server: place.servers.dc1.ip,
    query,
    rttMs: rng.logNormal(20, 0.8),
  };
  if (rng.chance(0.3)) return lookup(rng, { ...question, qtype: 'PTR', answers: [], rcode: 'NXDOMAIN' });
  const data = `host${rng.int(1, 250)}.${rng.pick(place.sites).name}`;
  return lookup(rng, { ...question, qtype: 'PTR', answers: [{ type: 'PTR', ttl: 3600, data }] });
}

function resolver(rng: Random, place: Office): string {
  return rng.chance(0.8) ? place.servers.dc1.ip : place.servers.dc2.ip;
}

function seen(host: Host, activities: readonly Activity[]): Omit<Scheduled, 'time'> {
  return { sensor: host.sensor, truth: 'benign', activities };
}

/** Returns a function that draws from a list by weight. */
function weighted<T>(list: readonly (readonly [number, T])[]): (rng: Random) => T {
  const total = list.reduce((sum, [weight]) => sum + weight, 0);
  return (rng) => {
    let left = rng.next() * total;
    for (const [weight, value] of list) {
      left -= weight;
      if (left < 0) return value;
    }
    return list.at(-1)![1];
  };
}
