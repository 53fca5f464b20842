/**
 * Candor as users run it: over HTTP, acknowledged when events are on disk and queryable. The load generator is this
 * process.
 */
import { readFile } from 'node:fs/promises';
import { login, type Service, startService, tokenFor } from '../../scripts/service.ts';
import { detectorIds } from '../../src/contract/vocabulary.ts';
import { disableAll } from '../sigma-http.ts';
import type { Answer } from './engine.ts';
import type { Peer } from './peer.ts';
import type { Question } from './questions.ts';

export const variants = {
  'with detection': 'as shipped',
  'without detection': 'no rules, no behaviour detectors',
} as const;
type Variant = keyof typeof variants;

const concurrency = 4;

/** An event with both of its ids: Candor assigns its own ids, and peers use the sensor's. */
export interface Named {
  readonly id: string;
  readonly connectionId: string;
  /** Time of the event, in epoch milliseconds. */
  readonly at: number;
}

export interface Candor extends Peer {
  /** Returns the events of `pages` pages that are spread over the whole event list. */
  sample(pages: number): Promise<readonly Named[]>;
  /**
   * Returns the milliseconds of requests that do not use the store: the part of a query's time that HTTP and this
   * client take.
   */
  idleRequests(times: number): Promise<readonly number[]>;
}

export async function startCandor(variant: Variant): Promise<Candor> {
  const off = variant === 'without detection';
  const service = await startService({
    env: off ? { CANDOR_DETECTION_DETECTORS_OFF: detectorIds.join(',') } : {},
  });
  if (off) await disableAll(service);
  const sensor = await tokenFor(service, 'sensor');
  const analyst = await tokenFor(service, 'analyst');
  const get = (path: string) => getJson(service, analyst, path);

  return {
    engine: 'candor',
    variant,
    note: `${variants[variant]}; over HTTP, ${concurrency} bodies of 10,000 lines at a time, each acknowledged when synced; the load generator is on the same cores`,
    pid: service.pid,
    load: (files) => load(service, sensor, files),
    finish: async () => {},
    async bytes() {
      const admin = await login(service);
      const { data } = (await getJson(service, admin, '/api/v1/status')) as StatusReply;
      const { store, retention } = data.attributes;
      return [
        { of: 'events', bytes: retention.event_bytes },
        {
          of: 'everything derived from them: inventory, alerts, topology, statistics',
          bytes: store.bytes - store.unused_bytes,
        },
      ];
    },
    prepare: async () => {},
    async ask(question) {
      const began = performance.now();
      const body = await get(pathOf(question));
      return { ms: performance.now() - began, answer: answerOf(question, body) };
    },
    stop: async () => void (await service.stop()),
    async sample(pages) {
      const { pagination } = (await get('/api/v1/events/network?per_page=1')) as Page;
      const named: Named[] = [];
      for (let n = 0; n < pages; n++) {
        const page = 1 + Math.floor((n * pagination.total) / pages / 50);
        const { data } = (await get(`/api/v1/events/network?page=${page}`)) as Page;
        for (const { id, attributes } of data)
          named.push({ id, connectionId: attributes.connection_id, at: Date.parse(attributes.timestamp) });
      }
      return named;
    },
    async idleRequests(times) {
      const took: number[] = [];
      for (let n = 0; n < times; n++) {
        const began = performance.now();
        await get('/health');
        took.push(performance.now() - began);
      }
      return took;
    },
  };
}

interface Item {
  readonly id: string;
  readonly attributes: { readonly timestamp: string; readonly connection_id: string };
}
interface Page {
  readonly data: readonly Item[];
  readonly pagination: { readonly total: number };
}
interface Dashboard {
  readonly data: { readonly attributes: { readonly top_talkers: readonly { readonly events: number }[] } };
}
interface StatusReply {
  readonly data: {
    readonly attributes: {
      readonly store: { readonly bytes: number; readonly unused_bytes: number };
      readonly retention: { readonly event_bytes: number };
    };
  };
}

function pathOf(question: Question): string {
  const events = '/api/v1/events/network';
  switch (question.kind) {
    case 'newest page':
      return events;
    case 'page of an address':
      return `${events}?ip=${question.ip}`;
    case 'page of a port and time range':
      return `${events}?dst_port=${question.port}&from=${question.from}&to=${question.to}`;
    case 'exact total of a port':
      return `${events}?dst_port=${question.port}&per_page=1`;
    case 'ten top talkers of a day':
    case 'distinct addresses of a day':
      return '/api/v1/analytics/dashboard?window=24h';
    case 'by connection id':
      return `${events}?connection_id=${question.connectionId}`;
    case 'get by id':
      return `${events}/${question.id}`;
  }
}

function answerOf(question: Question, body: unknown): Answer {
  switch (question.kind) {
    case 'distinct addresses of a day':
      return [];
    case 'ten top talkers of a day':
      return [(body as Dashboard).data.attributes.top_talkers[0]?.events ?? 0];
    case 'exact total of a port':
      return [(body as Page).pagination.total];
    default: {
      const rows = [(body as { data: Item | readonly Item[] }).data].flat() as Item[];
      return rows[0] ? [rows.length, Date.parse(rows[0].attributes.timestamp)] : [0];
    }
  }
}

async function load(service: Service, token: string, files: readonly string[]): Promise<number> {
  const began = performance.now();
  const waiting = files.values();
  const headers = { 'content-type': 'application/x-ndjson', authorization: `Bearer ${token}` };
  const sender = async () => {
    for (const path of waiting) {
      const body = (await readFile(path)) as Uint8Array<ArrayBuffer>;
      const response = await fetch(`${service.url}/api/v1/ingest`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`candor: ${response.status} ${await response.text()}`);
      await response.json();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sender));
  return performance.now() - began;
}

async function getJson(service: Service, token: string, path: string): Promise<unknown> {
  const response = await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`candor, ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
