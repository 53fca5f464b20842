/** A typical shipper: it keeps a body until it is acknowledged, and retries when the service asks for it. */
import { type Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Returns flows as lines of Zeek's conn.log, each with a unique uid: `name-0`, `name-1` … */
export function flows(name: string, count: number): string {
  const lines = Array.from(
    { length: count },
    (_, n) =>
      `{"ts":${1_763_683_200 + n},"uid":"${name}-${n}","id.orig_h":"10.0.0.${n % 250}","id.orig_p":51000,"id.resp_h":"203.0.113.7","id.resp_p":443,"proto":"tcp","conn_state":"SF"}\n`,
  );
  return lines.join('');
}

/** A body and its outcome. */
export interface Shipment {
  readonly key: string;
  readonly body: string | Uint8Array;
  readonly uids: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

export const shipment = (key: string, count: number): Shipment => ({
  key,
  body: flows(key, count),
  uids: Array.from({ length: count }, (_, n) => `${key}-${n}`),
});

export interface Reply {
  readonly status: number;
  /** Value of Retry-After in seconds; undefined without the header. */
  readonly retryAfter: number | undefined;
  readonly text: string;
}

export interface Connecting {
  readonly agent?: Agent;
  /** Local address in 127.0.0.0/8. */
  readonly localAddress?: string;
  /** Time that the shipper waits for data before it disconnects. */
  readonly giveUpMs?: number;
}

/** Sends a body once. Rejects with the connection's error. */
export function sendOnce(
  url: string,
  token: string,
  { key, body, headers = {} }: Shipment,
  { giveUpMs, ...options }: Connecting = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sending = request(
      `${url}/api/v1/ingest`,
      {
        method: 'POST',
        ...options,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/x-ndjson',
          'content-length': Buffer.byteLength(body),
          'idempotency-key': key,
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject);
        response.on('end', () => {
          const after = response.headers['retry-after'];
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: after === undefined ? undefined : Number(after),
            text,
          });
        });
      },
    );
    sending.on('error', reject);
    if (giveUpMs !== undefined) sending.setTimeout(giveUpMs, () => sending.destroy());
    sending.end(body);
  });
}

/** Intermediate results: number of responses by status, and of failed connections. */
export type Met = Record<string, number>;

/**
 * Sends a body until it is acknowledged. Retries are safe, because each attempt has the same idempotency key. Obeys
 * Retry-After. Throws for a response that shippers do not retry, and for a retryable response without Retry-After.
 *
 * @param to - the current address of the service
 */
export async function ship(
  to: string | (() => string),
  token: string,
  what: Shipment,
  met: Met = {},
  options: Connecting = {},
): Promise<void> {
  const count = (name: string | number) => {
    met[name] = (met[name] ?? 0) + 1;
  };
  for (;;) {
    const url = typeof to === 'string' ? to : to();
    const reply = await sendOnce(url, token, what, options).catch((error: NodeJS.ErrnoException) => {
      count(error.code ?? error.message);
    });
    if (reply === undefined) {
      await pause(100 + Math.random() * 200);
      continue;
    }
    count(reply.status);
    if (reply.status === 200) {
      const { data } = JSON.parse(reply.text) as { data: { accepted: number; rejected: number } };
      if (data.accepted !== what.uids.length || data.rejected !== 0) throw new Error(`${what.key}: ${reply.text}`);
      return;
    }
    if (reply.status !== 429 && reply.status !== 503) throw new Error(`${reply.status} ${reply.text}`);
    if (reply.retryAfter === undefined) throw new Error(`${reply.status} without Retry-After: ${reply.text}`);
    await pause(reply.retryAfter * 1000 * (0.5 + Math.random() / 2));
  }
}

/** Returns the uids of all stored flows, sorted; duplicates appear twice. */
export async function storedUids({ url }: { readonly url: string }, token: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' };
  const response = await fetch(`${url}/api/v1/events/network`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return Array.from(text.matchAll(/"connection_id":"([^"]+)"/g), ([, uid]) => uid ?? '').sort();
}

export const uidsOf = (shipments: readonly Shipment[]): string[] => shipments.flatMap(({ uids }) => uids).sort();
