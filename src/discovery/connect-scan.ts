import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { TokenBuckets, toleranceMs } from '../admission/token-buckets.ts';
import { limits } from '../limits.ts';
import { addressesOf } from '../net/scan-targets.ts';
import { type BannerTimes, bannerTimes, type Offered, offeredBy } from './banner.ts';
import { type Connected, Connections } from './connection.ts';
import { ReverseNames } from './reverse-names.ts';
import type { ScanResults } from './scan-results.ts';
import type { FoundService, ScanJob } from './scanner.ts';

/** Maximum delay in milliseconds that later probes may catch up, because timers fire a few milliseconds late. */
const slackMs = 20;

/**
 * Spreads probes evenly: never more than `rate` in any second, even if timers are late. With the increment T and the
 * tolerance τ, the n-th probe is sent at least (n − 1)·T − τ after the first. With T = (1000 ms + τ) / rate, `rate` + 1
 * probes take at least a second.
 *
 * @param rate - probes per second, at least 1
 */
export function probePace(rate: number): TokenBuckets {
  const tokenMs = (1000 + slackMs) / rate;
  return new TokenBuckets({ tokenMs, bucketMs: tokenMs + slackMs - toleranceMs });
}

/** Maximum retries of a probe while this machine has no free sockets. */
const busyRetries = 50;
/** Interval between the retries of a probe, in milliseconds. */
const busyPauseMs = 100;

export interface ConnectScanOptions {
  /** Name servers as `address:port`; defaults to those of the system. */
  readonly nameServers?: readonly string[];
  readonly connectTimeoutMs?: number;
  readonly bannerTimes?: BannerTimes;
  /** Maximum services per host. Default: limits.maxScanServicesPerHost. */
  readonly maxServicesPerHost?: number;
}

interface Host {
  readonly ip: string;
  at: number;
  up: boolean;
  /** Outstanding probes, including those not yet sent. */
  left: number;
  banners: number;
  readonly services: FoundService[];
  /** Ports that refused the connection: one bit per port of the job. */
  readonly refused: Uint8Array;
}

/** Thrown if this machine has run out of sockets. */
class NoSockets extends Error {}

/**
 * Connects to every TCP port of every host and identifies the services on open ports.
 *
 * ```
 *   hosts, 128 in turn ──port by port──► pace ──► connect ──► closed, filtered ──────────► host finished ──► names ──► findings
 *                                         ▲          └─open─► banner (TLS: pace again) ──────▲
 *                                         └── waits for sockets, unfinished hosts, unfetched findings
 * ```
 */
export class ConnectScan {
  readonly #job: ScanJob;
  readonly #findings: ScanResults;
  readonly #connections: Connections;
  readonly #times: BannerTimes;
  readonly #names: ReverseNames;
  readonly #maxServicesPerHost: number;
  readonly #pace: TokenBuckets;
  readonly #stop = new AbortController();
  /** Number of probes in progress, including banners. */
  #probes = 0;
  readonly #unfinished = new Set<Host>();
  #failure: NoSockets | undefined;
  #wake: (() => void) | undefined;

  constructor(job: ScanJob, findings: ScanResults, options: ConnectScanOptions = {}) {
    this.#job = job;
    this.#findings = findings;
    this.#connections = new Connections(options.connectTimeoutMs);
    this.#times = options.bannerTimes ?? bannerTimes;
    this.#names = new ReverseNames(options.nameServers);
    this.#pace = probePace(job.rate);
    this.#maxServicesPerHost = options.maxServicesPerHost ?? limits.maxScanServicesPerHost;
  }

  /** Resolves when all probes were answered or timed out. Rejects if this machine runs out of sockets. */
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
    while (this.#probes > 0 || (this.#unfinished.size > 0 && !this.#stop.signal.aborted)) await this.#change();
    for (const host of this.#unfinished) if (host.up) this.#report(host, []);
    this.#unfinished.clear();
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Closes all connections before it returns. `run` then reports the findings so far and resolves. */
  cancel(): void {
    this.#stop.abort();
    this.#connections.destroyAll();
    this.#names.cancel();
    this.#wake?.();
  }

  /** Yields hosts with the index of the port to probe. */
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

  /** Waits until another probe may be sent. */
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

  /** Resolves when a probe or a host is finished, or the scan is cancelled. */
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

  /** Connects, and retries for a few seconds while this machine has no free sockets. */
  async #connect(ip: string, port: number): Promise<Connected> {
    for (let tries = 0; tries < busyRetries; tries++) {
      const connected = await this.#connections.connect(ip, port);
      if (connected.outcome !== 'busy' || this.#stop.signal.aborted) return connected;
      await delay(busyPauseMs);
    }
    this.#failure ??= new NoSockets('this machine has no free sockets');
    this.cancel();
    return { outcome: 'busy' };
  }

  async #opened(host: Host, port: number, socket: Socket): Promise<void> {
    this.#findings.counts.services_found++;
    const offered = await this.#offered(host, port, socket);
    // Results of probes interrupted by a cancellation are discarded.
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
    // `run` reports unfinished hosts after a cancellation.
    if (!this.#unfinished.delete(host)) return;
    if (host.up) this.#report(host, hostnames);
    this.#findings.counts.hosts_done++;
    this.#wake?.();
  }

  #report({ ip, at, services, refused }: Host, hostnames: readonly string[]): void {
    this.#findings.counts.hosts_up++;
    services.sort((a, b) => a.port - b.port);
    const closed = this.#job.ports.filter((_, index) => (refused[index >> 3]! >> (index & 7)) & 1);
    this.#findings.add({ ip, at, hostnames, services, closed: Uint16Array.from(closed) });
  }
}
