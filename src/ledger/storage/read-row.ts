import { DamagedError } from './storage.ts';

/** Runs a read. Unreadable LMDB pages and undecodable rows are damage, not bugs. @throws DamagedError */
export function readRow<T>(get: () => T): T {
  try {
    return get();
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    throw new DamagedError(`ledger.mdb cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}
