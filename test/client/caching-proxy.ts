import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy in front of a log that simulates inconsistent caches: it forwards all requests until `serveKept`,
 * and then serves stored responses, unless the request has `cache-control: no-cache`.
 */
export class CachingProxy {
  readonly #target: string;
  readonly #server: Server;
  readonly #kept = new Map<string, { readonly status: number; readonly body: Buffer }>();
  serveKept = false;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      const mayServe = this.serveKept && request.headers['cache-control'] !== 'no-cache';
      const kept = mayServe ? this.#kept.get(request.url!) : undefined;
      void (kept === undefined ? this.#ask(request.url!) : Promise.resolve(kept)).then(({ status, body }) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(body),
      );
    });
  }

  static async before(target: string): Promise<CachingProxy> {
    const proxy = new CachingProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Stores the current responses of the log. */
  async keep(...paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#kept.set(path, await this.#ask(path));
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()).closeAllConnections());
  }

  async #ask(path: string): Promise<{ status: number; body: Buffer }> {
    const answer = await fetch(this.#target + path);
    return { status: answer.status, body: Buffer.from(await answer.arrayBuffer()) };
  }
}
