import { onTestFinished } from 'vitest';
import { formatVerifierKey, type VerifierKey } from '../../src/tlog/note.ts';
import { startWitnessServer } from '../../src/witness/server.ts';
import { type Contradiction, Witness } from '../../src/witness/witness.ts';
import { WitnessState } from '../../src/witness/witness-state.ts';
import { folder } from './test-log.ts';

interface Options {
  /** Folder of an earlier witness, whose state and key are used. */
  readonly path?: string;
  readonly name?: string;
  readonly port?: number;
  readonly now?: { ms: number };
  readonly requestTimeoutMs?: number;
}

/** Starts a listening witness of one log, until it is stopped or the test ends. */
export async function startWitness(log: { key: { public: VerifierKey } }, options: Options = {}) {
  const { path = folder(), name = 'witness.example/w1', port = 0, now = { ms: 1_700_000_000_000 } } = options;
  const state = await WitnessState.open(path, name);
  const contradictions: Contradiction[] = [];
  const failures: unknown[] = [];
  const witness = new Witness({
    state,
    logs: [log.key.public],
    now: () => now.ms,
    onContradiction: (found) => contradictions.push(found),
  });
  const { requestTimeoutMs } = options;
  const server = await startWitnessServer({
    witness,
    host: '127.0.0.1',
    port,
    onFailure: (error) => failures.push(error),
    ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs }),
  });
  let isOpen = true;
  const stop = async () => {
    if (!isOpen) return;
    isOpen = false;
    await server.close();
    state.release();
  };
  onTestFinished(stop);
  const key = state.key.public;
  const vkey = formatVerifierKey(key);
  return { url: server.url, key, vkey, path, state, contradictions, failures, now, stop };
}
