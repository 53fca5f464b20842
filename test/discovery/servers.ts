import { readFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Pair } from '../http/tls-certificates.ts';

export interface Listening {
  readonly port: number;
  /** Number of accepted connections. */
  accepted: number;
  close(): Promise<void>;
}

/** Starts a real server on loopback, closed with its connections at the end of the test. */
export async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<Listening> {
  const sockets = new Set<Socket>();
  const listening = {
    port: 0,
    accepted: 0,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  server.on('connection', (socket: Socket) => {
    listening.accepted++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => (server.listening ? listening.close() : undefined));
  return Object.assign(listening, { port: (server.address() as AddressInfo).port });
}

export const plain = (answer: (socket: Socket) => void): Server => createServer(answer);

/** Sends a greeting immediately. */
export const greeter = (greeting: string | Buffer): Server => plain((socket) => void socket.write(greeting));

/** Accepts connections and never sends data. */
export const tarpit = (): Server => plain(() => undefined);

/** Sends endlessly, as fast as the peer reads. */
export function flood(): Server {
  const chunk = Buffer.alloc(65_536, 'A');
  return plain((socket) => {
    const pour = (): void => {
      while (socket.writable && socket.write(chunk));
    };
    socket.on('drain', pour);
    pour();
  });
}

/** Sends single bytes endlessly. */
export const drip = (everyMs: number): Server =>
  plain((socket) => {
    const timer = setInterval(() => socket.write('x'), everyMs);
    socket.once('close', () => clearInterval(timer));
  });

export const web = (server: string): Server =>
  createHttp((_request, response) => response.setHeader('Server', server).end('hello'));

export const secureWeb = ({ cert, key }: Pair, server: string): Server =>
  createHttps({ cert: readFileSync(cert), key: readFileSync(key) }, (_request, response) =>
    response.setHeader('Server', server).end('hello'),
  ) as unknown as Server;

export const secureGreeter = ({ cert, key }: Pair, greeting: string): Server =>
  createTls(
    { cert: readFileSync(cert), key: readFileSync(key) },
    (socket) => void socket.write(greeting),
  ) as unknown as Server;

/** Returns a port that was free a moment ago, so that it probably has no listener. */
export async function closedPort(): Promise<number> {
  const { port, close } = await listen(tarpit());
  await close();
  return port;
}
