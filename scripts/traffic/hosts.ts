/**
 *        Internet ──── gateway ──── dmz 10.20.99.0/24 (public web)          suricata-dmz, DNS format 2
 *                         │
 *                         ├──────── servers 10.20.0.0/24, printers 10.20.5.0/24 ┐
 *                         ├──────── clients 10.20.16.0/23                       ┴ zeek-core
 *                         └──────── guests 192.168.50.0/24                   suricata-guest, DNS format 3
 *
 * External addresses are from the ranges reserved for benchmarks and documentation (RFC 2544, RFC 5737,
 * RFC 3849) and names from `.example` (RFC 2606), so that no real host appears as an attacker.
 */
import type { Sensor } from './activity.ts';
import type { Random } from './random.ts';

export interface Host {
  readonly ip: string;
  /** A unique local address (RFC 4193), if the machine has one. */
  readonly ipv6?: string;
  readonly name: string;
  readonly sensor: Sensor;
}

export interface Site {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly ipv6: string | undefined;
  /** Other hosts from which the site's pages load resources. */
  readonly parts: readonly string[];
}

export interface Office {
  readonly servers: Readonly<Record<ServerRole, Host>>;
  readonly printers: readonly Host[];
  readonly clients: readonly Host[];
  readonly guests: readonly Host[];
  /** Sites in descending order of visits. */
  readonly sites: readonly Site[];
  readonly siteByName: ReadonlyMap<string, Site>;
  /** Sources of unsolicited traffic from the Internet, busiest first. */
  readonly strangers: readonly string[];
  readonly timeServers: readonly string[];
  readonly mailPeers: readonly string[];
}

export type ServerRole = 'dc1' | 'dc2' | 'file' | 'mail' | 'intranet' | 'db' | 'backup' | 'print' | 'www' | 'gateway';

export const domain = 'corp.harborline.example';

const serverAddresses: Readonly<Record<ServerRole, string>> = {
  gateway: '10.20.0.1',
  dc1: '10.20.0.10',
  dc2: '10.20.0.11',
  file: '10.20.0.20',
  mail: '10.20.0.25',
  intranet: '10.20.0.30',
  db: '10.20.0.40',
  backup: '10.20.0.50',
  print: '10.20.0.60',
  www: '10.20.99.10',
};

export function office(rng: Random, options: { clients: number; guests: number; sites: number }): Office {
  const servers = Object.fromEntries(
    Object.entries(serverAddresses).map(([role, ip]) => {
      return [role, { ip, name: `${role}.${domain}`, sensor: role === 'www' ? 'suricata-dmz' : 'zeek-core' }];
    }),
  ) as unknown as Record<ServerRole, Host>;
  const sites = madeUpSites(rng, options.sites);
  return {
    servers,
    printers: numbered(6, (i) => ({
      ip: `10.20.5.${10 + i}`,
      name: `prn-${i + 1}.${domain}`,
      sensor: 'zeek-core',
    })),
    clients: numbered(options.clients, (i) => ({
      ip: `10.20.${16 + Math.floor(i / 200)}.${20 + (i % 200)}`,
      ipv6: `fd20:16::${(0x100 + i).toString(16)}`,
      name: `${i % 3 === 0 ? 'pc' : 'lt'}-${String(101 + i)}.${domain}`,
      sensor: 'zeek-core',
    })),
    guests: numbered(options.guests, (i) => ({
      ip: `192.168.50.${20 + i}`,
      name: '',
      sensor: 'suricata-guest',
    })),
    sites,
    siteByName: new Map(sites.map((site) => [site.name, site])),
    strangers: numbered(400, (i) => (i % 2 === 0 ? `203.0.113.${1 + ((i * 7) % 254)}` : benchmarkAddress(rng))),
    timeServers: ['198.51.100.123', '198.51.100.124', '198.51.100.125'],
    mailPeers: numbered(40, () => benchmarkAddress(rng)),
  };
}

const stems =
  'amber anchor aspen beacon birch bright cedar cinder clear cobalt copper coral crane delta drift ember fern field flint forge glade grove harbor hazel heron island juniper kestrel lake lantern larch linden maple meadow mercury mint north opal orchard otter paper pebble pine prairie quarry quill raven reed ridge river robin sable salt signal silver slate spruce stone summit swift tern thistle timber vale willow wren'.split(
    ' ',
  );
const endings = 'cloud works labs news mail market media desk hub post pay maps docs drive play shop soft ware'.split(
  ' ',
);

function madeUpSites(rng: Random, count: number): Site[] {
  const names = new Set<string>();
  while (names.size < count) names.add(`${rng.pick(stems)}${rng.pick(endings)}`);
  const list = [...names];
  const networks = list.slice(0, 12).map((name) => `cdn.${name}.example`);
  return list.map((name, rank) => ({
    name: rank < 12 ? networks[rank]! : `www.${name}.example`,
    addresses: numbered(rng.int(1, 4), () => benchmarkAddress(rng)),
    ipv6: rng.chance(0.4)
      ? `2001:db8:${rng.int(1, 0xffff).toString(16)}::${rng.int(1, 0xffff).toString(16)}`
      : undefined,
    parts: numbered(rng.int(0, 4), () => rng.pick(networks)),
  }));
}

/** Returns an address in 198.18.0.0/15, which RFC 2544 reserves for benchmarks. */
function benchmarkAddress(rng: Random): string {
  return `198.${rng.int(18, 20)}.${rng.int(0, 256)}.${rng.int(1, 255)}`;
}

function numbered<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}
