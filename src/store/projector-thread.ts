import { Worker } from 'node:worker_threads';
import type { DetectorId } from '../contract/vocabulary.ts';
import type { FromProjector, ProjectorPort } from '../projections/delta.ts';
import { fromFault, fromUncaught } from '../rpc/fault.ts';
import { resourceLimits } from '../rpc/heap.ts';
import type { Fault } from '../rpc/wire.ts';
import { workerUrl } from '../rpc/worker-url.ts';
import type { ProjectorSettings } from './open-projector.ts';

/** Settings of the projector in a thread. */
export interface ThreadSettings extends ProjectorSettings {
  readonly detectorsOff: readonly DetectorId[];
}

/** A message from the thread. Errors are sent as faults, because cloning loses their class. */
export type FromThread = Exclude<FromProjector, { kind: 'failed' }> | FailedInThread;
type FailedInThread = Omit<Extract<FromProjector, { kind: 'failed' }>, 'error'> & { readonly error: Fault };

/** Starts the projector in a thread of its own. If the thread dies, the store's thread dies as well. */
export function projectorThread(settings: ThreadSettings, receive: (message: FromProjector) => void): ProjectorPort {
  const worker = new Worker(workerUrl('projector'), {
    name: 'projector',
    workerData: settings,
    // Objects of a delta live until it is sent. With 24 MB, copying them takes 8 % of the CPU per event; with 48 MB, the
    // process takes 20 MB more memory.
    resourceLimits: resourceLimits({ maxYoungGenerationMb: 48, maxOldGenerationMb: 1536 }),
  });
  worker.on('message', (message: FromThread) => {
    receive(message.kind === 'failed' ? { ...message, error: fromFault(message.error) } : message);
  });
  let isClosing = false;
  worker.on('error', (error) => {
    throw fromUncaught(error);
  });
  worker.on('messageerror', (error) => {
    throw error;
  });
  worker.on('exit', (code) => {
    if (!isClosing) throw new Error(`the projector ended with code ${code}`);
  });
  return {
    send: (message) => worker.postMessage(message),
    close: async () => {
      isClosing = true;
      await worker.terminate();
    },
  };
}

/** Posts messages to the store's thread, and transfers the buffers of edges. */
export function postTo(port: { postMessage(message: unknown, transfer: ArrayBuffer[]): void }) {
  return (message: FromThread): void => {
    port.postMessage(message, message.kind === 'delta' ? message.delta.edges.map(({ buffer }) => buffer) : []);
  };
}
