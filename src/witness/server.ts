import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limits } from '../limits.ts';
import { sizeContentType } from './add-checkpoint.ts';
import type { Answer, Witness } from './witness.ts';

export interface WitnessServer {
  /** The address that it listens on, as an http URL without a slash at the end. */
  readonly url: string;
  /** Answers what was accepted, and closes. */
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The HTTP interface of C2SP tlog-witness, both prefixes being the root:
 *
 *     POST /add-checkpoint
 *     GET  /<origin hash>/checkpoint
 *
 * Requests are bounded in bytes, time and number. `onFailure` is told of what could not be written; it is answered
 * with 500.
 */
export async function startWitnessServer(options: {
  readonly witness: Witness;
  readonly host: string;
  readonly port: number;
  readonly onFailure: (error: unknown) => void;
  /** Of a whole request. */
  readonly requestTimeoutMs?: number;
}): Promise<WitnessServer> {
  const { witness, host, port, onFailure, requestTimeoutMs = limits.witnessRequestTimeoutMs } = options;
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      keepAliveTimeout: limits.witnessIdleTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
      maxHeaderSize: limits.maxHeaderBytes,
    },
    (request, response) => {
      route(witness, request)
        .catch((error: unknown): Reply => {
          onFailure(error);
          return { status: 500, body: 'the witness could not keep the checkpoint\n' };
        })
        .then((reply) => reply && send(request, response, reply));
    },
  );
  server.maxConnections = limits.maxWitnessConnections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, resolve);
  });
  const bound = server.address() as AddressInfo;
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${shown}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 2000).unref();
      }),
  };
}

/** Undefined for a client that is gone. */
async function route(witness: Witness, request: IncomingMessage): Promise<Reply | undefined> {
  const path = (request.url ?? '').split('?', 1)[0]!;
  if (path === '/add-checkpoint') {
    if (request.method !== 'POST') return notAllowed('POST');
    const body = await readBody(request);
    if (body === 'gone') return undefined;
    if (body === 'too large') {
      return { status: 413, body: `more than ${limits.maxAddCheckpointBytes} bytes\n` };
    }
    return replyOf(await witness.addCheckpoint(body));
  }
  const hash = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path)?.[1];
  if (hash === undefined) return { status: 404, body: 'no such address\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed('GET, HEAD');
  const note = witness.latest(hash);
  return note === undefined
    ? { status: 404, body: 'nothing was cosigned of this log\n' }
    : { status: 200, body: note, headers: { 'cache-control': 'no-cache' } };
}

function replyOf(answer: Answer): Reply {
  switch (answer.status) {
    case 200:
      return { status: 200, body: answer.line };
    case 409:
      return { status: 409, type: sizeContentType, body: `${answer.size}\n` };
    case 503:
      return { status: 503, body: `${answer.reason}\n`, headers: { 'retry-after': '1' } };
    default:
      return { status: answer.status, body: `${answer.reason}\n` };
  }
}

function notAllowed(allow: string): Reply {
  return { status: 405, body: `wanted ${allow}\n`, headers: { allow } };
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | 'too large' | 'gone'> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > limits.maxAddCheckpointBytes) return 'too large';
      parts.push(part);
    }
  } catch {
    return 'gone';
  }
  return Buffer.concat(parts);
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, {
    'content-type': reply.type ?? 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(reply.body),
    'x-content-type-options': 'nosniff',
    // What is left of a body that wasn't read to its end would be taken for the next request.
    ...(request.readableEnded || request.method === 'GET' ? {} : { connection: 'close' }),
    ...reply.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}
