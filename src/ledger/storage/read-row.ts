import { DamagedError } from './storage.ts';

/** Pages that LMDB can't follow and rows that don't decode are damage, not bugs. @throws DamagedError */
export function readRow<T>(get: () => T): T {
  try {
    return get();
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    throw new DamagedError(
      `ledger.mdb cannot be read (${error instanceof Error ? error.message : String(error)})`,
    );
  }
}
