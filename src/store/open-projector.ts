import { join } from 'node:path';
import { openDatabase } from '../database/lmdb.ts';
import type { Detector } from '../detect/behaviour/detector.ts';
import { EventStore } from '../events/store/event-store.ts';
import { compileHome } from '../net/home-networks.ts';
import type { FromProjector, ProjectorPort } from '../projections/delta.ts';
import { Projector } from './projector.ts';
import { ProjectorRunner } from './projector-runner.ts';
import { databaseFile, openTables } from './tables.ts';

export interface ProjectorSettings {
  readonly dataDir: string;
  /** The home networks: addresses and CIDR blocks. */
  readonly home: readonly string[];
  /** Number of events after which a detector's state is written. */
  readonly eventsPerDetectorState: number;
}

/** Starts a projector in this thread. The store must have opened the database. */
export function openProjector(
  { dataDir, home, eventsPerDetectorState }: ProjectorSettings,
  detectors: () => readonly Detector[],
  send: (message: FromProjector) => void,
): ProjectorPort {
  const root = openDatabase(join(dataDir, databaseFile), { readOnly: true });
  const projector = new Projector({
    tables: openTables(root, (row) => send({ kind: 'damaged', row })),
    events: new EventStore(root),
    isHome: compileHome(home),
    detectors,
    eventsPerState: eventsPerDetectorState,
  });
  const runner = new ProjectorRunner(projector, send);
  return {
    send: (message) => runner.receive(message),
    close: async () => {
      runner.close();
      await root.close();
    },
  };
}
