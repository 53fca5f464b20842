import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import { type Damage, damages } from './damaging-proxy.ts';

/** The reason why tests with the real ssh-agent are skipped, or undefined. */
export const withoutAgent =
  spawnSync('ssh-agent', ['-h']).error === undefined && spawnSync('ssh-add', ['-h']).error === undefined
    ? undefined
    : 'ssh-agent and ssh-add (openssh-client) are not installed';

/** A real ssh-agent without keys. */
export class TestAgent {
  readonly folder = mkdtempSync(join(tmpdir(), 'candor-agent-'));
  readonly socket = join(this.folder, 'agent.sock');
  readonly #loaded: string[] = [];
  readonly #stops: (() => Promise<unknown>)[] = [];

  static async start(): Promise<TestAgent> {
    const agent = new TestAgent();
    onTestFinished(async () => {
      await agent.stop();
      rmSync(agent.folder, { recursive: true, force: true });
    });
    await agent.start();
    return agent;
  }

  async start(): Promise<void> {
    const child = spawn('ssh-agent', ['-D', '-a', this.socket], { stdio: 'ignore' });
    this.#stops.push(async () => {
      const gone = once(child, 'exit');
      child.kill();
      await gone;
      rmSync(this.socket, { force: true });
    });
    while (!existsSync(this.socket)) await sleep(5);
  }

  /** Stops the agent. It loses its keys, which are only in its memory. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) await stop();
  }

  /** Generates an Ed25519 key with this comment; returns the path of its file. */
  make(comment: string, type = 'ed25519'): string {
    const path = join(this.folder, `${comment.replace(/\W/g, '-')}-${Math.random().toString(36).slice(2)}`);
    execFileSync('ssh-keygen', ['-q', '-t', type, '-N', '', '-C', comment, '-f', path]);
    return path;
  }

  load(...paths: readonly string[]): void {
    this.#add(['-q', ...paths]);
    this.#loaded.push(...paths);
  }

  remove(path: string): void {
    this.#add(['-q', '-d', path]);
  }

  removeAll(): void {
    this.#add(['-q', '-D']);
  }

  /** Loads the same keys into a restarted agent. */
  reload(): void {
    this.load(...this.#loaded.splice(0));
  }

  /** Locks the agent without `ssh-add -x`, because that command prompts at a terminal. */
  lock(): Promise<void> {
    return this.#password(22);
  }

  unlock(): Promise<void> {
    return this.#password(23);
  }

  /** Returns the fingerprint as printed by `ssh-add -l`. */
  fingerprint(path: string): string {
    return execFileSync('ssh-keygen', ['-lf', path], { encoding: 'utf8' }).split(' ')[1]!;
  }

  async #password(type: number): Promise<void> {
    const socket = connect(this.socket);
    const secret = Buffer.from('secret');
    socket.write(Buffer.concat([Buffer.from([0, 0, 0, 5 + secret.length, type, 0, 0, 0, secret.length]), secret]));
    await once(socket, 'data');
    socket.destroy();
  }

  /** Generates and loads one key for each purpose that an agent can hold. */
  provision(): void {
    this.load(...purposes.map((purpose) => this.make(`candor:${purpose}`)));
  }

  #add(args: readonly string[]): void {
    execFileSync('ssh-add', args, { env: { ...process.env, SSH_AUTH_SOCK: this.socket }, stdio: 'ignore' });
  }
}

export const purposes = ['transparency-sth', 'event-signing', 'checkpoint'] as const;

/** A socket in front of a real agent. It damages the agent's responses as the test configures. */
export async function damagingProxy(agent: TestAgent) {
  const socket = join(agent.folder, 'proxy.sock');
  const mode = new Int32Array(new SharedArrayBuffer(4));
  // Runs in another thread, because the log blocks its thread while it waits for the agent.
  const worker = new Worker(new URL('./damaging-proxy.ts', import.meta.url), {
    workerData: { socket, to: agent.socket, mode },
  });
  await once(worker, 'message');
  onTestFinished(async () => void (await worker.terminate()));
  return { socket, damage: (damage: Damage) => Atomics.store(mode, 0, damages.indexOf(damage)) };
}
