/** A sensor's shipper as they are: it keeps a body until it is acknowledged, and sends it again when it is told to. */
import { type Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Flows as lines of Zeek's conn.log, each with a uid of its own: `name-0`, `name-1` … */
export function flows(name: string, count: number): string {
  const lines = Array.from(
    { length: count },
    (_, n) =>
      `{"ts":${1_763_683_200 + n},"uid":"${name}-${n}","id.orig_h":"10.0.0.${n % 250}","id.orig_p":51000,"id.resp_h":"203.0.113.7","id.resp_p":443,"proto":"tcp","conn_state":"SF"}\n`,
  );
  return lines.join('');
}

/** A body, and what became of it. */
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
  /** Seconds; undefined where there is none. */
  readonly retryAfter: number | undefined;
  readonly text: string;
}

export interface Connecting {
  readonly agent?: Agent;
  /** Of 127.0.0.0/8. */
  readonly localAddress?: string;
  /** How long it waits for something to come before it breaks off. */
  readonly giveUpMs?: number;
}

/** Sends it once. Rejects with the error of the connection. */
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

/** What was met on the way: answers by status, and connections that failed. */
export type Met = Record<string, number>;

/**
 * Sends it until it is acknowledged, as a retry that the service makes safe, waiting as it is told to. Throws for an
 * answer that no shipper would repeat, and for one that says "later" without saying when.
 *
 * @param to - where the service is, or is now
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
      if (data.accepted !== what.uids.length || data.rejected !== 0)
        throw new Error(`${what.key}: ${reply.text}`);
      return;
    }
    if (reply.status !== 429 && reply.status !== 503) throw new Error(`${reply.status} ${reply.text}`);
    if (reply.retryAfter === undefined) throw new Error(`${reply.status} without Retry-After: ${reply.text}`);
    await pause(reply.retryAfter * 1000 * (0.5 + Math.random() / 2));
  }
}

/** The uids of all stored flows, sorted; what is stored twice is in it twice. */
export async function storedUids({ url }: { readonly url: string }, token: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' };
  const response = await fetch(`${url}/api/v1/events/network`, { headers });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return Array.from(text.matchAll(/"connection_id":"([^"]+)"/g), ([, uid]) => uid ?? '').sort();
}

export const uidsOf = (shipments: readonly Shipment[]): string[] =>
  shipments.flatMap(({ uids }) => uids).sort();
