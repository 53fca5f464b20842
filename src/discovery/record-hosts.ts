import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorCode, ServiceError } from '../errors.ts';
import type { ScannedHost, ScanRecorded, Store } from '../store/store.ts';
import type { FoundHost } from './scanner.ts';

export interface RecordOptions {
  readonly store: Pick<Store, 'recordScan'>;
  /** Milliseconds between attempts. */
  readonly retryMs: number;
  /** Returns whether to stop retrying. Called before each retry. */
  stopped(): boolean;
  /** Called with the result of each stored portion. */
  recorded(done: ScanRecorded): void;
}

/** Hosts and services per transaction. A transaction takes about ten milliseconds, so events are not delayed. */
const maxPortion = 2000;
/** Maximum number of attempts to store a portion. */
const maxTries = 10;
const passing: readonly ErrorCode[] = ['OVERLOADED', 'UNAVAILABLE', 'WORKER_LOST'];

/** Stores the findings of a scan in the inventory, in portions. Rejects with the last error of the store. */
export async function recordHosts(scanId: string, hosts: readonly FoundHost[], options: RecordOptions): Promise<void> {
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

/** Converts a host for the inventory. The buffer is copied because the store takes ownership of it. */
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
