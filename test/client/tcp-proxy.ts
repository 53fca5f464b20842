import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a service that can be cut or blocked. */
export interface TcpProxy {
  readonly url: string;
  /** Number of connections so far. */
  readonly connections: number;
  /** Ends all connections, as when a cable is unplugged and the machine notices. */
  cut(): void;
  /** Stops transfers on existing connections, which stay open; later connections are not affected. */
  freeze(): void;
  /** Directs new connections to this URL. */
  aim(target: string): void;
  /** Sets whether new connections are closed immediately. */
  refuse(refused: boolean): void;
  close(): void;
}

/** @param target - URL of the service */
export async function openTcpProxy(target: string): Promise<TcpProxy> {
  let { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  let connections = 0;
  let refused = false;
  const server = createServer((near) => {
    connections++;
    if (refused) {
      near.destroy();
      return;
    }
    const far = connect(Number(port), hostname);
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
  });
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cut,
    freeze() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    aim(next) {
      ({ hostname, port } = new URL(next));
    },
    refuse(next) {
      refused = next;
    },
    close() {
      cut();
      server.close();
    },
  };
}
