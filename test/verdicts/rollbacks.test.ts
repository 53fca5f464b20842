/**
 * An attacker without a key restores older files of a data folder, or deletes files, including after the keys
 * have ended. Start-up detects what the remaining files show; auditors detect the rest. No party accuses the
 * log.
 */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DataFolders, pathOf } from './data-folders.ts';
import { rowsOf } from './parties.ts';

/**
 * The first three columns: the folder (`rotated`: after a rotation of each key and a revocation of the
 * checkpoint key), the files that are older, and those that are missing. In a rotated folder, older files are
 * those from before the keys ended. `keys` is the folder with all its files; `keys/<purpose>` is only the
 * file of the ended key, as it was while the key was in use. Then the verdicts as in data-folders.ts.
 */
const rows = rowsOf(`
  now     | ledger.mdb                                                        | anchor.json journal.ndjson                                   | rollback                                            | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb                                                        | anchor.json                                                  | rollback                                            | journal_ahead                                                                 | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb                                                        | journal.ndjson                                               | rollback                                            | anchor_ahead                                                                  | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb                                                        | siem.mdb                                                     | rollback                                            | anchor_ahead journal_ahead                                                    | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb                                                        | anchor.json journal.ndjson siem.mdb                          | ok anchor_missing journal_missing places_unreadable | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 0 pinned      | OLD_HEAD      | cosigned    | good        | verified
  now     | ledger.mdb                                                        | anchor.json journal.ndjson siem.mdb siem.mdb.json            | ok anchor_missing journal_missing places_unreadable | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 0 pinned      | OLD_HEAD      | cosigned    | good        | verified
  now     | ledger.mdb anchor.json                                            | -                                                            | rollback                                            | journal_ahead                                                                 | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb journal.ndjson                                         | -                                                            | rollback                                            | anchor_ahead                                                                  | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb anchor.json journal.ndjson                             | -                                                            | rollback                                            | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb anchor.json journal.ndjson                             | siem.mdb                                                     | ok places_unreadable                                | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 0 pinned      | OLD_HEAD      | cosigned    | good        | verified
  now     | ledger.mdb anchor.json journal.ndjson siem.mdb                    | -                                                            | ok store_older                                      | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 0 pinned      | OLD_HEAD      | cosigned    | good        | verified
  now     | ledger.mdb anchor.json journal.ndjson siem.mdb siem.mdb.json      | -                                                            | ok                                                  | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 0 pinned      | OLD_HEAD      | cosigned    | good        | verified
  now     | ledger.mdb siem.mdb siem.mdb.json                                 | -                                                            | rollback                                            | anchor_ahead journal_ahead                                                    | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  now     | ledger.mdb siem.mdb siem.mdb.json                                 | anchor.json journal.ndjson                                   | ok anchor_missing journal_missing                   | ok                                                                            | 4 OLD_HEAD      | 4 OLD_HEAD      | 0 pinned      | OLD_HEAD      | cosigned    | good        | verified
  now     | siem.mdb siem.mdb.json                                            | -                                                            | ok store_older                                      | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  now     | siem.mdb                                                          | siem.mdb.json                                                | ok store_older                                      | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  now     | -                                                                 | anchor.json journal.ndjson                                   | ok anchor_missing journal_missing                   | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  now     | -                                                                 | anchor.json journal.ndjson siem.mdb siem.mdb.json            | ok anchor_missing journal_missing places_unreadable | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  now     | -                                                                 | ledger.mdb anchor.json journal.ndjson                        | lost                                                | no file                                                                       | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  now     | -                                                                 | ledger.mdb anchor.json journal.ndjson siem.mdb siem.mdb.json | lost                                                | no file                                                                       | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  now     | -                                                                 | ledger.mdb keys anchor.json journal.ndjson                   | lost                                                | no file                                                                       | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  now     | -                                                                 | keys                                                         | lost                                                | anchor_signature entry_key head_key journal_signature keys_missing            | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  rotated | keys/transparency-sth                                             | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | keys/event-signing                                                | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | keys/access-token                                                 | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | keys/checkpoint                                                   | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | keys                                                              | -                                                            | lost                                                | anchor_signature checkpoint_key_replaced entry_key head_key journal_signature | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  rotated | ledger.mdb                                                        | -                                                            | rollback                                            | anchor_ahead journal_ahead keys_ahead                                         | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 3 UNAVAILABLE | UNVOUCHED_KEY | UNAVAILABLE | unavailable | verified
  rotated | ledger.mdb                                                        | anchor.json journal.ndjson                                   | rollback                                            | keys_ahead                                                                    | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 3 UNAVAILABLE | UNVOUCHED_KEY | UNAVAILABLE | unavailable | verified
  rotated | ledger.mdb                                                        | anchor.json journal.ndjson siem.mdb                          | rollback                                            | keys_ahead                                                                    | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 3 UNAVAILABLE | UNVOUCHED_KEY | UNAVAILABLE | unavailable | verified
  rotated | ledger.mdb keys                                                   | -                                                            | corrupt                                             | anchor_signature journal_signature                                            | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 3 UNAVAILABLE | UNVOUCHED_KEY | UNAVAILABLE | unavailable | verified
  rotated | ledger.mdb keys                                                   | anchor.json journal.ndjson                                   | rollback                                            | ok                                                                            | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 3 UNAVAILABLE | UNVOUCHED_KEY | UNAVAILABLE | unavailable | verified
  rotated | ledger.mdb keys                                                   | anchor.json journal.ndjson siem.mdb siem.mdb.json            | ok anchor_missing journal_missing places_unreadable | ok                                                                            | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 0 pinned      | UNVOUCHED_KEY | unknown_key | good        | verified
  rotated | ledger.mdb keys anchor.json journal.ndjson siem.mdb siem.mdb.json | -                                                            | ok                                                  | ok                                                                            | 4 UNVOUCHED_KEY | 4 UNVOUCHED_KEY | 0 pinned      | UNVOUCHED_KEY | unknown_key | good        | verified
  rotated | anchor.json                                                       | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | journal.ndjson                                                    | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | anchor.json journal.ndjson                                        | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | siem.mdb                                                          | -                                                            | ok store_older                                      | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | siem.mdb.json                                                     | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  rotated | clock.json scrub.json                                             | -                                                            | ok                                                  | ok                                                                            | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
`);

let folders: DataFolders;
beforeAll(async () => {
  folders = await DataFolders.make();
});
afterAll(() => folders.close());

const filesOf = (cell: string): string[] => (cell === '-' ? [] : cell.split(' '));

test.each(rows)(
  'every party has the expected verdict on %s with older %s, missing %s: %s',
  async (name, older, missing, ...verdicts) => {
    const from = folders.paths[name === 'now' ? 'older' : 'now'];
    const [replaced, removed] = [filesOf(older!), filesOf(missing!)];
    const actual = await folders.verdictsOf(name as 'now' | 'rotated', [...replaced, ...removed], (folder) => {
      for (const file of removed) rmSync(join(folder, file), { recursive: true });
      for (const file of replaced) putBack(from, folder, file);
    });
    expect(actual).toEqual(verdicts);
  },
);

function putBack(from: string, folder: string, file: string): void {
  if (file === 'keys') rmSync(join(folder, file), { recursive: true });
  if (!file.startsWith('keys/')) return cpSync(join(from, file), join(folder, file), { recursive: true });
  const own = pathOf(from, file);
  cpSync(own, join(folder, 'keys', own.slice(own.lastIndexOf('/') + 1)));
}
