import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorCode, ServiceError } from '../errors.ts';
import type { ScannedHost, ScanRecorded, Store } from '../store/store.ts';
import type { FoundHost } from './scanner.ts';

export interface RecordOptions {
  readonly store: Pick<Store, 'recordScan'>;
  /** Between two tries. */
  readonly retryMs: number;
  /** Asked before another try. */
  stopped(): boolean;
  /** Told of what was stored. */
  recorded(done: ScanRecorded): void;
}

/** Hosts and services that one transaction takes in: some ten milliseconds, so that events need not wait. */
const maxPortion = 2000;
/** How often it is tried to store what was found. */
const maxTries = 10;
const passing: readonly ErrorCode[] = ['OVERLOADED', 'UNAVAILABLE', 'WORKER_LOST'];

/** Has the inventory take in what a scan found, a portion at a time. Rejects with what the store refuses for good. */
export async function recordHosts(
  scanId: string,
  hosts: readonly FoundHost[],
  options: RecordOptions,
): Promise<void> {
  for (const portion of inPortions(hosts)) options.recorded(await recordPortion(scanId, portion, options));
}

async function recordPortion(
  scanId: string,
  hosts: readonly FoundHost[],
  { store, retryMs, stopped }: RecordOptions,
): Promise<ScanRecorded> {
  for (let tries = 1; ; tries++) {
    try {
      return await store.recordScan(scanId, hosts.map(asScanned));
    } catch (error) {
      const mayPass = error instanceof ServiceError && passing.includes(error.code);
      if (!mayPass || tries === maxTries || stopped()) throw error;
      await delay(retryMs);
    }
  }
}

function* inPortions(hosts: readonly FoundHost[]): Generator<FoundHost[]> {
  let portion: FoundHost[] = [];
  let size = 0;
  for (const host of hosts) {
    if (portion.length > 0 && size + 1 + host.services.length > maxPortion) {
      yield portion;
      portion = [];
      size = 0;
    }
    portion.push(host);
    size += 1 + host.services.length;
  }
  if (portion.length > 0) yield portion;
}

/** What the inventory wants of it; the buffer is the store's. */
function asScanned({ services, closed, ...host }: FoundHost): ScannedHost {
  return {
    ...host,
    closed: closed.slice(),
    services: services.map(({ certificate, ...service }) => {
      const names = certificate?.names ?? [];
      return names.length === 0 ? service : { ...service, certificate_names: names };
    }),
  };
}
