import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { limits } from '../limits.ts';
import { sizeContentType } from './add-checkpoint.ts';
import type { Answer, Witness } from './witness.ts';

export interface WitnessServer {
  /** The http URL that the server listens on, without a trailing slash. */
  readonly url: string;
  /** Completes accepted requests for at most 2 s, then closes. */
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly type?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Serves the HTTP interface of C2SP tlog-witness, with the root as both prefixes:
 *
 *     POST /add-checkpoint
 *     GET  /<origin hash>/checkpoint
 *
 * Requests are limited in size, time and number. If a checkpoint cannot be stored, the error is passed to `onFailure`
 * and the response is 500.
 */
export async function startWitnessServer(options: {
  readonly witness: Witness;
  readonly host: string;
  readonly port: number;
  readonly onFailure: (error: unknown) => void;
  /** Timeout of a complete request. */
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
          return { status: 500, body: 'the witness could not store the checkpoint\n' };
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
  const hostText = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${hostText}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), 2000).unref();
      }),
  };
}

/** Returns the response; undefined if the client has disconnected. */
async function route(witness: Witness, request: IncomingMessage): Promise<Reply | undefined> {
  const path = (request.url ?? '').split('?', 1)[0]!;
  if (path === '/add-checkpoint') {
    if (request.method !== 'POST') return notAllowed('POST');
    const body = await readBody(request);
    if (body === 'gone') return undefined;
    if (body === 'too large') {
      return { status: 413, body: `the body must have at most ${limits.maxAddCheckpointBytes} bytes\n` };
    }
    return replyOf(await witness.addCheckpoint(body));
  }
  const hash = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path)?.[1];
  if (hash === undefined) return { status: 404, body: 'not found\n' };
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed('GET, HEAD');
  const note = witness.latest(hash);
  return note === undefined
    ? { status: 404, body: 'no checkpoint of this log has been cosigned\n' }
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
  return { status: 405, body: `use ${allow}\n`, headers: { allow } };
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
    // Closes the connection, because the unread rest of a body would be parsed as the next request.
    ...(request.readableEnded || request.method === 'GET' ? {} : { connection: 'close' }),
    ...reply.headers,
  });
  response.end(request.method === 'HEAD' ? undefined : reply.body);
}
