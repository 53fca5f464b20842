/** Work that users cause during ingest. The clients are in this process, on the same cores as the service. */
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from '../../scripts/service.ts';
import { median } from '../result.ts';

export interface WorkFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/**
 * Starts work for an analyst's token. The returned function ends the work and returns its results; it rejects if a
 * request failed.
 */
export type Work = (service: Service, token: string) => () => Promise<WorkFigure[]>;

const readEveryMs = 100;
const queryEveryMs = 100;

/** Queries that read all events: for a text that no event has, and for the communication graph. */
const heavyQueries = {
  'free text': '/api/v1/events/network?q=no-such-text&per_page=50',
  topology: '/api/v1/topology?limit=1000',
} as const;

export const works = {
  /** Subscribes to all events, and reads one buffer of at most 64 KiB ten times per second. */
  'a slow subscriber': (service, token) => {
    const began = performance.now();
    const socket = unreadStream(service, token);
    let head = '';
    let bytes = 0;
    const reading = setInterval(() => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      if (head === '') head = chunk.toString('latin1', 0, 12);
      bytes += chunk.length;
    }, readEveryMs);
    return async () => {
      clearInterval(reading);
      socket.destroy();
      if (head !== 'HTTP/1.1 101') throw new Error(`the subscriber received ${head}`);
      return [{ name: 'read by the subscriber', value: megabytesPerS(bytes, began), unit: 'MB/s' }];
    };
  },

  /** Exports all events, again and again, as fast as the service sends them. */
  'an endless export': (service, token) => {
    const began = performance.now();
    let bytes = 0;
    const stop = repeat(async (signal) => {
      // Uncompressed: otherwise most of the time would be spent on decompression in this process.
      const headers = { accept: 'application/x-ndjson', 'accept-encoding': 'identity' };
      const { body } = await get(service, '/api/v1/events/network', token, { headers, signal });
      for await (const chunk of body!) bytes += chunk.length;
    });
    return async () => {
      await stop();
      return [{ name: 'exported', value: megabytesPerS(bytes, began), unit: 'MB/s' }];
    };
  },

  /** Sends the queries in turn, each 100 ms after the one before, or later, when its response arrives. */
  'a heavy query every 100 ms': (service, token) => {
    const began = performance.now();
    const queries = Object.entries(heavyQueries).map(([name, path]) => ({ name, path, times: [] as number[] }));
    const stop = repeat(async () => {
      for (const { path, times } of queries) {
        const sent = performance.now();
        await (await get(service, path, token)).arrayBuffer();
        const ms = performance.now() - sent;
        times.push(ms);
        await pause(Math.max(0, queryEveryMs - ms));
      }
    });
    return async () => {
      await stop();
      const elapsedS = (performance.now() - began) / 1000;
      const answered = queries.reduce((sum, { times }) => sum + times.length, 0);
      return [
        { name: 'queries', value: answered / elapsedS, unit: 'queries/s' },
        ...queries.map(({ name, times }) => ({ name: `${name}, p50`, value: median(times), unit: 'ms' })),
      ];
    };
  },
} as const satisfies Record<string, Work>;

export type WorkName = keyof typeof works;

/** Subscribes to all network events, and does not read. */
export function unreadStream(service: Service, token: string): Socket {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => {});
  socket.write(
    `GET /api/v1/events/network/stream HTTP/1.1\r\nHost: ${hostname}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n' +
      `Authorization: Bearer ${token}\r\n\r\n`,
  );
  return socket;
}

/**
 * Repeats a step until it fails or the returned function is called. That function aborts the step, and rejects if a
 * step has failed.
 */
function repeat(step: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const running = (async () => {
    while (!signal.aborted)
      await step(signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
  })();
  running.catch(() => {});
  return () => {
    controller.abort();
    return running;
  };
}

async function get(
  service: Service,
  path: string,
  token: string,
  { headers, signal }: { headers?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
): Promise<Response> {
  const response = await fetch(service.url + path, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(signal !== undefined && { signal }),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

const megabytesPerS = (bytes: number, began: number) => bytes / 1000 / (performance.now() - began);
