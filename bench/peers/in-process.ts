/** Parent side of peers that run in a child process; child.ts is the child side. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, EngineOptions } from './engine.ts';
import type { Peer } from './peer.ts';
import type { Question } from './questions.ts';

export interface Started extends EngineOptions {
  readonly engine: string;
  readonly note: string;
  /** File name of the engine's module, in this folder. */
  readonly module: string;
}

/** A call to the child. The child answers calls in order, each with one `Reply`. */
export type Call =
  | { readonly method: 'load'; readonly files: readonly string[] }
  | { readonly method: 'ask'; readonly question: Question }
  | { readonly method: 'finish' | 'bytes' | 'prepare' | 'close' };
export type Reply = Done | { readonly error: string };
interface Done {
  readonly ms: number;
  readonly value: unknown;
}

/**
 * Starts a child that ends when this process ends, because the channel between them then closes.
 * @throws Error with the reason if the engine does not start
 */
export async function startInProcess({ engine, note, module, ...options }: Started): Promise<Peer> {
  const child = fork(new URL('./child.ts', import.meta.url), [module, JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  /** The open call; there is at most one at a time. */
  let waiting: PromiseWithResolvers<Done> | undefined;
  const failed = (message: string) => waiting?.reject(new Error(`${engine}, ${options.variant}: ${message}`));
  child.on('message', (reply: Reply) => {
    if ('error' in reply) failed(reply.error);
    else waiting?.resolve(reply);
  });
  child.on('exit', (code, signal) => failed(`its process ended with ${code ?? signal}`));
  const answer = () => {
    waiting = Promise.withResolvers<Done>();
    return waiting.promise;
  };
  const call = (what: Call) => {
    const done = answer();
    child.send(what);
    return done;
  };

  const version = (await answer()).value as string;
  return {
    engine,
    variant: options.variant,
    note: `${version}; ${note}`,
    pid: child.pid ?? 0,
    load: async (files) => (await call({ method: 'load', files })).ms,
    finish: async () => void (await call({ method: 'finish' })),
    bytes: async () => [{ of: '', bytes: (await call({ method: 'bytes' })).value as number }],
    prepare: async () => void (await call({ method: 'prepare' })),
    async ask(question) {
      const { ms, value } = await call({ method: 'ask', question });
      return { ms, answer: value as Answer };
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.send({ method: 'close' } satisfies Call);
      await ended;
    },
  };
}
