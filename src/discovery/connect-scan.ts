import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TokenBuckets } from '../admission/token-buckets.ts';
import { limits } from '../limits.ts';
import { type BannerTimes, bannerTimes, type Offered, offeredBy } from './banner.ts';
import { type Connected, Connections } from './connection.ts';
import type { Findings } from './findings.ts';
import { probePace } from './pace.ts';
import { ReverseNames } from './reverse-names.ts';
import type { FoundService, ScanJob } from './scanner.ts';
import { addressesOf } from './targets.ts';

/** How often, and after which pause, a probe is tried that found no room for a socket on this machine. */
const busyRetries = 50;
const busyPauseMs = 100;

export interface ConnectScanOptions {
  /** `address:port` of name servers; the system's by default. */
  readonly nameServers?: readonly string[];
  readonly connectTimeoutMs?: number;
  readonly bannerTimes?: BannerTimes;
  /** Default: limits.maxScanServicesPerHost. */
  readonly maxServicesPerHost?: number;
}

interface Host {
  readonly ip: string;
  at: number;
  up: boolean;
  /** Probes that have not been answered or given up, those that are yet to be sent included. */
  left: number;
  banners: number;
  readonly services: FoundService[];
  /** A bit for each of the job's ports. */
  readonly refused: Uint8Array;
}

/** This machine cannot go on. */
class NoSockets extends Error {}

/**
 * Asks every port of every host by a TCP connection, and what is open for what it offers.
 *
 * ```
 *   hosts, 128 in turn ──port by port──► pace ──► connect ──► closed, filtered ──────────► host finished ──► names ──► findings
 *                                         ▲          └─open─► banner (TLS: pace again) ──────▲
 *                                         └── waits: sockets, unfinished hosts, findings not fetched
 * ```
 */
export class ConnectScan {
  readonly #job: ScanJob;
  readonly #findings: Findings;
  readonly #connections: Connections;
  readonly #times: BannerTimes;
  readonly #names: ReverseNames;
  readonly #maxServicesPerHost: number;
  readonly #pace: TokenBuckets;
  readonly #stop = new AbortController();
  /** Probes under way, banners included. */
  #probes = 0;
  readonly #unfinished = new Set<Host>();
  #failure: NoSockets | undefined;
  #wake: (() => void) | undefined;

  constructor(job: ScanJob, findings: Findings, options: ConnectScanOptions = {}) {
    this.#job = job;
    this.#findings = findings;
    this.#connections = new Connections(options.connectTimeoutMs);
    this.#times = options.bannerTimes ?? bannerTimes;
    this.#names = new ReverseNames(options.nameServers);
    this.#pace = probePace(job.rate);
    this.#maxServicesPerHost = options.maxServicesPerHost ?? limits.maxScanServicesPerHost;
  }

  /** Resolves when all is asked and answered, or given up. Rejects when this machine has no more sockets. */
  async run(): Promise<void> {
    for (const [host, index] of this.#probesInTurn()) {
      await this.#turn();
      if (this.#stop.signal.aborted) break;
      this.#probes++;
      void this.#probe(host, index).finally(() => {
        this.#probes--;
        this.#wake?.();
      });
    }
    while (this.#probes > 0 || (this.#unfinished.size > 0 && !this.#stop.signal.aborted))
      await this.#change();
    for (const host of this.#unfinished) if (host.up) this.#tell(host, []);
    this.#unfinished.clear();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Nothing is connected any more once this returns; `run` resolves soon, what was found until now told. */
  cancel(): void {
    this.#stop.abort();
    this.#connections.destroyAll();
    this.#names.cancel();
    this.#wake?.();
  }

  /** Hosts with the places of ports in the job's list. */
  *#probesInTurn(): Generator<[Host, number]> {
    const { ports, spans } = this.#job;
    const addresses = addressesOf(spans);
    for (;;) {
      const group: Host[] = [];
      for (let next = addresses.next(); !next.done; next = addresses.next()) {
        const refused = new Uint8Array(Math.ceil(ports.length / 8));
        group.push({
          ip: next.value,
          at: 0,
          up: false,
          left: ports.length,
          banners: 0,
          services: [],
          refused,
        });
        if (group.length === limits.scanHostsInTurn) break;
      }
      if (group.length === 0) return;
      for (const host of group) this.#unfinished.add(host);
      for (let index = 0; index < ports.length; index++) for (const host of group) yield [host, index];
    }
  }

  /** Waits until one more probe may be sent. */
  async #turn(): Promise<void> {
    while (
      !this.#stop.signal.aborted &&
      (this.#probes >= limits.maxScanConnections || this.#unfinished.size > limits.maxUnfinishedScanHosts)
    )
      await this.#change();
    await this.#findings.room();
    await this.#paced();
  }

  async #paced(): Promise<void> {
    for (;;) {
      const waitMs = this.#pace.take(performance.now());
      if (waitMs === 0 || this.#stop.signal.aborted) return;
      await delay(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
  }

  /** Resolves when a probe or a host is done with, or all is given up. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #probe(host: Host, index: number): Promise<void> {
    const port = this.#job.ports[index]!;
    const connected = await this.#connect(host.ip, port);
    if (this.#stop.signal.aborted) return;
    if (connected.outcome === 'closed' || connected.outcome === 'open') {
      host.up = true;
      host.at = Date.now();
    }
    if (connected.outcome === 'closed') host.refused[index >> 3]! |= 1 << (index & 7);
    if (connected.outcome === 'open') await this.#opened(host, port, connected.socket);
    if (this.#stop.signal.aborted) return;
    this.#findings.counts.probes_done++;
    if (--host.left === 0) void this.#finish(host);
  }

  /** A machine without room for sockets is waited for, a few seconds. */
  async #connect(ip: string, port: number): Promise<Connected> {
    for (let tries = 0; tries < busyRetries; tries++) {
      const connected = await this.#connections.connect(ip, port);
      if (connected.outcome !== 'busy' || this.#stop.signal.aborted) return connected;
      await delay(busyPauseMs);
    }
    this.#failure ??= new NoSockets('this machine has no room for more sockets');
    this.cancel();
    return { outcome: 'busy' };
  }

  async #opened(host: Host, port: number, socket: Socket): Promise<void> {
    this.#findings.counts.services_found++;
    const offered = await this.#offered(host, port, socket);
    // Whatever was cut short by a cancellation says nothing.
    if (this.#stop.signal.aborted) return;
    if (host.services.length >= this.#maxServicesPerHost) {
      this.#findings.counts.services_skipped++;
      return;
    }
    host.services.push({ port, transport: 'tcp', ...offered });
  }

  async #offered(host: Host, port: number, socket: Socket): Promise<Offered> {
    if (host.banners >= limits.maxScanBannersPerHost) {
      this.#findings.counts.banners_skipped++;
      socket.destroy();
      return {};
    }
    host.banners++;
    return offeredBy(socket, {
      ip: host.ip,
      port,
      connections: this.#connections,
      times: this.#times,
      again: async () => {
        await this.#paced();
        const second = await this.#connections.connect(host.ip, port);
        return second.outcome === 'open' ? second.socket : undefined;
      },
    });
  }

  async #finish(host: Host): Promise<void> {
    const hostnames = host.up ? await this.#names.of(host.ip) : [];
    // A cancellation tells of all that are unfinished.
    if (!this.#unfinished.delete(host)) return;
    if (host.up) this.#tell(host, hostnames);
    this.#findings.counts.hosts_done++;
    this.#wake?.();
  }

  #tell({ ip, at, services, refused }: Host, hostnames: readonly string[]): void {
    this.#findings.counts.hosts_up++;
    services.sort((a, b) => a.port - b.port);
    const closed = this.#job.ports.filter((_, index) => (refused[index >> 3]! >> (index & 7)) & 1);
    this.#findings.add({ ip, at, hostnames, services, closed: Uint16Array.from(closed) });
  }
}
