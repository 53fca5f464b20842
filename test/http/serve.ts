import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import type { BodyTerms } from '../../src/http/bodies.ts';
import { Budget } from '../../src/http/budget.ts';
import type { Endpoint } from '../../src/http/endpoint.ts';
import { data } from '../../src/http/reply.ts';
import { type Server, type ServerOptions, startServer } from '../../src/http/server.ts';
import type { LimitName } from '../../src/limits.ts';

/** A real server with endpoints of the test's own, what it observed and logged, and its address. */
export interface Served {
  readonly server: Server;
  readonly url: string;
  readonly answered: { operation: string; status: number }[];
  readonly limitsReached: LimitName[];
  readonly logged: Record<string, unknown>[];
}

const running: Server[] = [];

export async function serve(
  endpoints: readonly Endpoint[],
  options: Partial<ServerOptions> = {},
): Promise<Served> {
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

/** The body of an answer, of which the test knows the shape. */
export async function bodyOf(answer: Response): Promise<{
  data?: unknown;
  pagination?: unknown;
  error?: { code: string; details?: Record<string, unknown> };
}> {
  return (await answer.json()) as Awaited<ReturnType<typeof bodyOf>>;
}

/** Answers with the body it got, and releases it. */
export const echo = (terms: Partial<BodyTerms> = {}, path = '/echo'): Endpoint => ({
  operation: 'echo',
  method: 'POST',
  path,
  access: 'public',
  body: {
    mediaTypes: ['application/json', 'text/plain'],
    terms: {
      maxBytes: 1000,
      budget: new Budget(1_000_000),
      tooLong: 'maxBodyBytes',
      overloaded: 'maxIngestInFlightBytes',
      ...terms,
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

/** A connection on which a test says exactly what goes over the wire. */
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

  /** `from`: the address of the client, of 127.0.0.0/8. */
  static async open(port: number, from = '127.0.0.1'): Promise<Wire> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    await once(socket, 'connect');
    return new Wire(socket);
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Resolves once what was received matches, rejects when the connection closes first. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.closed) throw new Error(`closed after ${JSON.stringify(this.received.slice(0, 500))}`);
      await new Promise((resolve) => this.socket.once('data', resolve).once('close', resolve));
    }
    return this.received;
  }

  /** By an end or a reset, which `once` of node:events would reject with. */
  async untilClosed(): Promise<string> {
    if (!this.closed) await new Promise((resolve) => this.socket.once('close', resolve));
    return this.received;
  }

  end(): void {
    this.socket.destroy();
  }
}

/** Sends bytes on a connection of their own and returns what came until it was closed. */
export async function untilClosed(port: number, bytes: string | Uint8Array): Promise<string> {
  const wire = await Wire.open(port);
  wire.send(bytes);
  return wire.untilClosed();
}

/** Waits for a condition that the other side brings about. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
