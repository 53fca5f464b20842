import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { Budget } from '../../src/admission/budget.ts';
import type { BodyLimits } from '../../src/http/bodies.ts';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { data } from '../../src/http/reply.ts';
import { type Server, type ServerOptions, startServer } from '../../src/http/server.ts';
import type { LimitName } from '../../src/limits.ts';

/** A real server with a test's endpoints, its URL, and the requests, reached limits and log records so far. */
export interface Served {
  readonly server: Server;
  readonly url: string;
  readonly answered: { operation: string; status: number }[];
  readonly limitsReached: LimitName[];
  readonly logged: Record<string, unknown>[];
}

const running: Server[] = [];

export async function serve(endpoints: readonly Endpoint[], options: Partial<ServerOptions> = {}): Promise<Served> {
  const answered: Served['answered'] = [];
  const limitsReached: LimitName[] = [];
  const logged: Served['logged'] = [];
  const log = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) });
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    endpoints,
    authenticate: () => {
      throw new Error('no endpoint here needs credentials');
    },
    log,
    observer: {
      answered: (operation, status) => answered.push({ operation, status }),
      limitReached: (limit) => limitsReached.push(limit),
    },
    drainMs: 5000,
    ...options,
  });
  running.push(server);
  return { server, url: `http://127.0.0.1:${server.port}`, answered, limitsReached, logged };
}

export async function stopAll(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.close()));
}

/** Returns the JSON body of a response, which must be an envelope. */
export async function bodyOf(answer: Response): Promise<{
  data?: unknown;
  pagination?: unknown;
  error?: { code: string; details?: Record<string, unknown> };
}> {
  return (await answer.json()) as Awaited<ReturnType<typeof bodyOf>>;
}

/** Returns an endpoint that responds with the length and the first 100 bytes of the body, and releases the body. */
export const echo = (limits: Partial<BodyLimits> = {}, path = '/echo'): Endpoint => ({
  operation: 'echo',
  method: 'POST',
  path,
  access: 'public',
  body: {
    mediaTypes: ['application/json', 'text/plain'],
    limits: {
      maxBytes: 1000,
      budget: new Budget(1_000_000),
      tooLong: 'maxBodyBytes',
      overloaded: 'maxIngestInFlightBytes',
      ...limits,
    },
  },
  run({ body }) {
    const text = Buffer.from(body!.bytes).toString('latin1');
    body!.release();
    return data({ length: text.length, text: text.slice(0, 100) });
  },
});

export const get = (path: string, run: Endpoint['run'], operation = path.slice(1)): Endpoint => ({
  operation,
  method: 'GET',
  path,
  access: 'public',
  run,
});

/** A connection on which the test controls each byte sent. */
export class Wire {
  readonly socket: Socket;
  received = '';
  closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.received += text;
    });
    socket.setMaxListeners(0);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
  }

  /** Connects from the client address `from`, which must be in 127.0.0.0/8. */
  static async open(port: number, from = '127.0.0.1'): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    await once(socket, 'connect');
    return new Wire(socket);
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Resolves once the received text matches; rejects if the connection closes first. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.closed) throw new Error(`closed after ${JSON.stringify(this.received.slice(0, 500))}`);
      await new Promise((resolve) => this.socket.once('data', resolve).once('close', resolve));
    }
    return this.received;
  }

  /** Resolves on an end or a reset. (`once` from node:events would reject on a reset.) */
  async untilClosed(): Promise<string> {
    if (!this.closed) await new Promise((resolve) => this.socket.once('close', resolve));
    return this.received;
  }

  end(): void {
    this.socket.destroy();
  }
}

/** Sends bytes on a new connection and returns the bytes received until it was closed. */
export async function untilClosed(port: number, bytes: string | Uint8Array): Promise<string> {
  const wire = await Wire.open(port);
  wire.send(bytes);
  return wire.untilClosed();
}

/** Waits until a condition holds. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
