import { parentPort, workerData } from 'node:worker_threads';
import { newDetectors } from '../src/detect/behaviour/detectors.ts';
import type { ToProjector } from '../src/projections/delta.ts';
import { toFault } from '../src/rpc/fault.ts';
import { openProjector } from '../src/store/open-projector.ts';
import { postTo, type ThreadSettings } from '../src/store/projector-thread.ts';

const settings = workerData as ThreadSettings;
const post = postTo(parentPort!);
const projector = openProjector(
  settings,
  () => newDetectors(settings.detectorsOff),
  (message) => post(message.kind === 'failed' ? { ...message, error: toFault(message.error) } : message),
);
parentPort!.on('message', (message: ToProjector) => projector.send(message));
