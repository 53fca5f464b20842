import type { Severity } from '../../contract/vocabulary.ts';
import type { Detection, Detector, DetectorCard, DropCounts, Emit, Flow } from './detector.ts';
import { BlockCache } from './support/block-cache.ts';
import { flowEvents } from './support/earliest.ts';
import { OldestKeys } from './support/oldest-keys.ts';
import { adminServices, firstEphemeral } from './support/ports.ts';

const dayMs = 24 * 3_600_000;

export const newServiceThresholds = {
  /**
   * Minimum time between the first answer of a server and the first answer on a reported port. This time is long enough
   * to see services that are used once a week.
   */
  knownMs: 7 * dayMs,
  /** Time after which unused ports are forgotten. */
  rememberedMs: 60 * dayMs,
  /** Maximum servers. A server with a dozen ports takes about 2 kB. */
  maxHosts: 4_000,
  /**
   * Maximum ports of one server. A server with this many ports (a honeypot, a proxy) is not reported, so a
   * finding lists fewer ports.
   */
  maxPorts: 128,
  /** Maximum ports of all servers. */
  maxAllPorts: 60_000,
  /** Maximum sources and known ports named in a finding. */
  named: 20,
} as const;

interface Port {
  /** Event time of the first answer, epoch milliseconds. */
  first: number;
  last: number;
  seq: number;
  src: string;
  port: number;
  fromOutside: boolean;
  told: boolean;
}

interface Server {
  /** Ports by number; all ephemeral ports are one entry, under `firstEphemeral`. */
  readonly ports: Map<number, Port>;
  /** Time of the first answer, except on ephemeral ports. */
  first: number;
}

type Thresholds = { readonly [K in keyof typeof newServiceThresholds]: number };

/**
 * Reports home servers that answer on a port on which they did not answer before, or not for 60 days: a change, or a
 * backdoor. Only TCP is evaluated, because the source of a datagram can be forged. Ports that open on a server within
 * one UTC day make one alert; each further port refreshes the alert. A port that opens after the alert was closed
 * creates another alert. Memory: at most 12 MB for 60,000 ports.
 */
export class NewServiceDetector implements Detector {
  readonly card: DetectorCard = {
    id: 'new-service',
    version: 1,
    name: 'New service on a server',
    category: 'Persistence',
    mitre: { tactics: ['TA0003', 'TA0011'], techniques: ['T1543', 'T1571'] },
  };
  readonly #thresholds: Thresholds;
  readonly #servers = new Map<string, Server>();
  readonly #eldest = new OldestKeys(this.#servers);
  readonly #ofBlock = new BlockCache<Server>();
  readonly #new = new Set<string>();
  #ports = 0;
  #forgotten = 0;

  constructor(thresholds: Partial<Thresholds> = {}) {
    this.#thresholds = { ...newServiceThresholds, ...thresholds };
  }

  get dropped(): DropCounts {
    return { late: 0, forgotten: this.#forgotten, stale: 0 };
  }

  flow(flow: Readonly<Flow>): void {
    if (!flow.dstHome || !flow.answered || flow.transport !== 'tcp' || !(flow.port >= 0)) return;
    const { time, seq, src, port, dst } = flow;
    let server = this.#ofBlock.get(flow.block, flow.dstPlace);
    if (server === undefined) {
      server = this.#servers.get(dst);
      if (server !== undefined) this.#ofBlock.set(flow.block, flow.dstPlace, server);
    }
    const known = server?.ports.get(classOf(port));
    if (known !== undefined && time >= known.first && time <= known.last + this.#thresholds.rememberedMs) {
      if (time > known.last) known.last = time;
      return;
    }
    this.#answered(dst, { first: time, last: time, seq, src, port, fromOutside: !flow.srcHome, told: false });
  }

  evaluate(emit: Emit): void {
    const { knownMs, maxPorts } = this.#thresholds;
    for (const host of this.#new) {
      const server = this.#servers.get(host);
      if (server === undefined || server.ports.size >= maxPorts) continue;
      const untold = new Set<number>();
      for (const { first, told } of server.ports.values())
        if (!told && first >= server.first + knownMs) untold.add(dayOf(first));
      for (const day of [...untold].sort((a, b) => a - b)) {
        const opened = [...server.ports.values()]
          .filter(({ first }) => first >= server.first + knownMs && dayOf(first) === day)
          .sort((a, b) => a.first - b.first);
        const due = opened.some(({ told }) => told) ? 'graver' : 'new';
        for (const port of opened) port.told = true;
        emit(this.#detection(host, server, opened), due);
      }
    }
    this.#new.clear();
  }

  state(): unknown {
    return this.#servers;
  }

  restore(state: unknown): void {
    this.#servers.clear();
    this.#ofBlock.forget();
    this.#ports = 0;
    this.merge(state);
    this.#new.clear();
  }

  merge(state: unknown): void {
    for (const [host, { ports, first }] of state as ReadonlyMap<string, Server>) {
      for (const port of ports.values()) this.#answered(host, port);
      const server = this.#servers.get(host);
      if (server !== undefined) server.first = Math.min(server.first, first);
    }
  }

  #answered(host: string, given: Port): void {
    const { maxPorts, rememberedMs } = this.#thresholds;
    const server = this.#server(host);
    const kind = classOf(given.port);
    if (kind !== firstEphemeral) server.first = Math.min(server.first, given.first);
    const known = server.ports.get(kind);
    if (known === undefined) {
      if (server.ports.size >= maxPorts) {
        this.#forgotten++;
        return;
      }
      server.ports.set(kind, { ...given });
      this.#ports++;
      this.#trim(host);
    } else if (given.first > known.last + rememberedMs) Object.assign(known, given);
    else {
      const last = Math.max(known.last, given.last);
      const told = known.told || given.told;
      if (given.first < known.first) Object.assign(known, given);
      Object.assign(known, { last, told });
    }
    this.#new.add(host);
  }

  #server(host: string): Server {
    const known = this.#servers.get(host);
    if (known !== undefined) return known;
    const server: Server = { ports: new Map(), first: Number.POSITIVE_INFINITY };
    this.#servers.set(host, server);
    return server;
  }

  /** Drops the oldest servers, except `kept`, until the limits are met. */
  #trim(kept: string): void {
    const { maxHosts, maxAllPorts } = this.#thresholds;
    while (this.#servers.size > 1 && (this.#servers.size > maxHosts || this.#ports > maxAllPorts)) {
      const host = this.#eldest.next();
      if (host === undefined || host === kept) continue;
      this.#ports -= this.#servers.get(host)?.ports.size ?? 0;
      this.#forgotten++;
      this.#servers.delete(host);
      this.#ofBlock.forget();
      this.#new.delete(host);
    }
  }

  #detection(host: string, server: Server, opened: readonly Port[]): Detection {
    const { named, knownMs } = this.#thresholds;
    const gravest = opened.map(graded).reduce((one, other) => (other.rank > one.rank ? other : one));
    const newest = opened.at(-1)!.first;
    const ports = opened.map(({ port }) => port);
    const what = ports.length === 1 ? `port ${ports[0]}` : `${ports.length} ports`;
    const days = Math.floor((newest - server.first) / dayMs);
    const from = [...new Set(opened.map(({ src }) => src))];
    const known = [...server.ports.keys()].filter((kind) => server.ports.get(kind)!.first < opened[0]!.first);
    return {
      title: `New service: ${host} answers on ${what}`,
      description: `${host} has been known as a server for ${days} days and never answered on ${what} before. ${gravest.meaning} Find out which program listens there, and whether the change was planned.`,
      severity: gravest.severity,
      confidence: 0.6,
      timestamp: newest,
      began: opened[0]!.first,
      about: new Date(newest).toISOString().slice(0, 10),
      ends: { dst_ip: host, dst_port: ports[0]!, transport: 'tcp' },
      evidence: {
        ports,
        asked_by: from.slice(0, named),
        asked_from_outside: opened.some(({ fromOutside }) => fromOutside),
        known_days: days,
        known_ports: known.sort((a, b) => a - b).slice(0, named),
        threshold_known_days: knownMs / dayMs,
      },
      events: flowEvents(opened.slice(0, 10).map(({ seq }) => seq)),
    };
  }
}

const dayOf = (time: number): number => Math.floor(time / dayMs);

/**
 * Returns the port, or `firstEphemeral` for all ephemeral ports, because ephemeral ports change with RPC and file
 * transfers.
 */
const classOf = (port: number): number => Math.min(port, firstEphemeral);

/** Default listening ports of published attack tools that no other software uses. */
const toolPorts: ReadonlySet<number> = new Set([1337, 4444, 4445, 5555, 6666, 31_337]);

const kinds = {
  ephemeral: {
    inside: 'informational',
    outside: 'low',
    meaning: 'It is an ephemeral port: such ports are assigned to programs at random.',
  },
  plain: { inside: 'low', outside: 'medium', meaning: 'It may be a new application.' },
  admin: { inside: 'medium', outside: 'high', meaning: 'It allows remote control of the server.' },
} as const satisfies Record<string, { inside: Severity; outside: Severity; meaning: string }>;

function graded({ port, fromOutside }: Port): { severity: Severity; meaning: string; rank: number } {
  const isAdmin = adminServices.has(port) || toolPorts.has(port);
  const kind = isAdmin ? 'admin' : port >= firstEphemeral ? 'ephemeral' : 'plain';
  const rank = Object.keys(kinds).indexOf(kind) + (fromOutside ? 1 : 0);
  const { inside, outside, meaning } = kinds[kind];
  return { severity: fromOutside ? outside : inside, meaning, rank };
}
