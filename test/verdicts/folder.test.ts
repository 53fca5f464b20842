/**
 * Each file of a data folder is missing, empty, cut, zeroed, altered, older or from another log. Start-up,
 * fsck and all parties that query the served log report their results. No party accuses the log because of
 * damage.
 */
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/crypto/sha256.ts';
import { LmdbStorage } from '../../src/ledger/storage/lmdb-store.ts';
import { bytesToHex } from '../../src/tlog/hex.ts';
import { leafHash } from '../../src/tlog/tree.ts';
import { removeHeads, replaceCheckpointKey } from '../ledger/replaced-parts.ts';
import { lastTransaction, spendTransactions } from '../ledger/spent-transactions.ts';
import { DataFolders, pathOf } from './data-folders.ts';
import { rowsOf } from './parties.ts';

/**
 * Modifications of a file. `older` and `other`: the same file of an earlier time, and of another log. `claimed` and
 * `forged`: an attacker adds a line to the journal that claims a restore, without a signature or with a forged entry;
 * ledger.mdb and the anchor are older. `lost`: a folder is in place of the file. `no head`: the history lacks a head.
 * `stopped`: after a transaction whose number is a multiple of 256. `swapped`: the file holds another key.
 */
type Damage =
  | 'missing'
  | 'present'
  | 'empty'
  | 'cut'
  | 'zeroed'
  | 'altered'
  | 'one bit'
  | 'older'
  | 'other'
  | 'claimed'
  | 'forged'
  | 'lost'
  | 'no head'
  | 'stopped'
  | 'swapped';

/**
 * The verdict of each party: start-up (`ok` or the fault, then findings), the codes of fsck's findings,
 * audits with a pin, with a pin and entries, and without a pin (exit code and result), the watching auditor,
 * a witness, the console's verifier on a bundle, and `candor verify` of an entry without a pin. A dash means that the
 * service does not start, so no party can query it.
 */
const rows = rowsOf(`
  ledger.mdb            | missing | lost                                  | no file                                                                          | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | empty   | lost                                  | no_database                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | cut     | half_written                          | anchor_ahead file_cut journal_ahead page_unreadable …                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | zeroed  | corrupt                               | no_database                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | altered | corrupt                               | entry_missing page_unreadable                                                    | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNAVAILABLE
  ledger.mdb            | one bit | ok                                    | entry_altered entry_signature                                                    | 0 unchanged     | 3 UNAVAILABLE   | 0 pinned      | silent        | cosigned    | unavailable | UNAVAILABLE
  ledger.mdb            | older   | rollback                              | anchor_ahead journal_ahead                                                       | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  ledger.mdb            | other   | lost                                  | anchor_root checkpoint_key_replaced entry_key head_key head_missing journal_root | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  anchor.json           | missing | ok anchor_missing                     | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  anchor.json           | empty   | corrupt                               | anchor_unreadable                                                                | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | cut     | corrupt                               | anchor_unreadable                                                                | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | zeroed  | corrupt                               | anchor_unreadable                                                                | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | one bit | corrupt                               | anchor_signature                                                                 | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  anchor.json           | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  anchor.json           | other   | corrupt                               | anchor_signature                                                                 | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  journal.ndjson        | missing | ok journal_missing                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | empty   | ok journal_missing                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | cut     | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | zeroed  | ok journal_missing                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | one bit | ok                                    | journal_signature                                                                | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | other   | ok                                    | journal_signature                                                                | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/transparency-sth | missing | lost                                  | anchor_signature head_key journal_signature key_missing                          | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | empty   | corrupt                               | anchor_signature head_key journal_signature key_damaged                          | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | cut     | corrupt                               | anchor_signature head_key journal_signature key_damaged                          | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | zeroed  | corrupt                               | anchor_signature head_key journal_signature key_damaged                          | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | one bit | corrupt                               | anchor_signature head_key journal_signature key_damaged                          | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/transparency-sth | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/transparency-sth | other   | corrupt                               | anchor_signature head_key journal_signature key_damaged                          | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY   | 4 UNKNOWN_KEY | UNKNOWN_KEY   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | missing | lost                                  | entry_key key_missing                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | empty   | corrupt                               | entry_key key_damaged                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | cut     | corrupt                               | entry_key key_damaged                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | zeroed  | corrupt                               | entry_key key_damaged                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | one bit | corrupt                               | entry_key key_damaged                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/event-signing    | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/event-signing    | other   | corrupt                               | entry_key key_damaged                                                            | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | UNKNOWN_KEY
  keys/checkpoint       | missing | lost                                  | key_missing                                                                      | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | empty   | corrupt                               | key_damaged                                                                      | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | cut     | corrupt                               | key_damaged                                                                      | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | zeroed  | corrupt                               | key_damaged                                                                      | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | one bit | corrupt                               | key_damaged                                                                      | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/checkpoint       | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/checkpoint       | other   | corrupt                               | key_damaged                                                                      | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 3 UNAVAILABLE | KEY_WITHDRAWN | UNAVAILABLE | unavailable | verified
  keys/access-token     | missing | lost                                  | key_missing                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | empty   | corrupt                               | key_damaged                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | cut     | corrupt                               | key_damaged                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | zeroed  | corrupt                               | key_damaged                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | one bit | corrupt                               | key_damaged                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  keys/access-token     | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/access-token     | other   | corrupt                               | key_damaged                                                                      | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  siem.mdb              | missing | ok places_unreadable                  | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | empty   | ok places_unreadable                  | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | cut     | refused siem.mdb                      | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  siem.mdb              | zeroed  | refused siem.mdb                      | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  siem.mdb              | altered | ok places_unreadable                  | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | one bit | ok places_unreadable                  | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | older   | ok store_older                        | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb              | other   | rollback store_older                  | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  siem.mdb.json         | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | empty   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | cut     | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | zeroed  | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb.json         | other   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  instance.json         | missing | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | empty   | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | cut     | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | zeroed  | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | one bit | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | older   | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  instance.json         | other   | copied                                | ok                                                                               | 3 UNAVAILABLE   | 3 UNAVAILABLE   | 3 UNAVAILABLE | UNAVAILABLE   | UNAVAILABLE | unavailable | verified
  format.json           | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  format.json           | empty   | refused format.json                   | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  format.json           | cut     | refused format.json                   | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  format.json           | zeroed  | refused format.json                   | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  format.json           | one bit | refused format.json                   | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  format.json           | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  format.json           | other   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | empty   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | cut     | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | zeroed  | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  clock.json            | other   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | empty   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | cut     | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | zeroed  | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  scrub.json            | other   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  config.json           | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  config.json           | empty   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  config.json           | cut     | refused config.json                   | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  config.json           | zeroed  | refused config.json                   | ok                                                                               | -               | -               | -             | -             | -           | -           | -
  config.json           | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  config.json           | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  config.json           | other   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb-lock       | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb-lock       | empty   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb-lock       | cut     | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb-lock       | zeroed  | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb-lock       | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb-lock       | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | missing | ok v3                                 | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | empty   | ok v3 warned                          | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | cut     | ok v3 warned                          | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | zeroed  | ok v3 warned                          | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | one bit | ok v3 warned                          | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | older   | ok v4 policy.reloaded                 | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  policy.json           | other   | ok v4 policy.reloaded                 | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb-lock         | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb-lock         | empty   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb-lock         | cut     | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb-lock         | zeroed  | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb-lock         | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  siem.mdb-lock         | older   | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  lock                  | missing | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  lock                  | one bit | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb            | claimed | rollback                              | journal_ahead                                                                    | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  ledger.mdb            | forged  | rollback                              | journal_ahead                                                                    | 4 OLD_HEAD      | 4 OLD_HEAD      | 3 UNAVAILABLE | OLD_HEAD      | UNAVAILABLE | unavailable | verified
  ledger.mdb            | no head | ok head_missing                       | head_missing                                                                     | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  ledger.mdb            | stopped | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  anchor.json           | lost    | refused anchor.json                   | anchor_unreadable                                                                | -               | -               | -             | -             | -           | -           | -
  journal.ndjson        | lost    | refused journal.ndjson                | journal_unreadable                                                               | -               | -               | -             | -             | -           | -           | -
  journal.ndjson        | claimed | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  journal.ndjson        | forged  | ok                                    | ok                                                                               | 0 unchanged     | 0 unchanged     | 0 pinned      | silent        | cosigned    | good        | verified
  keys/checkpoint       | swapped | ok checkpoint_key_replaced            | checkpoint_key_replaced                                                          | 4 KEY_WITHDRAWN | 4 KEY_WITHDRAWN | 0 pinned      | KEY_WITHDRAWN | unknown_key | good        | verified
  restore.json          | present | refused restore.json                  | ok                                                                               | -               | -               | -             | -             | -           | -           | -
`);

let folders: DataFolders;
/** An alert's entry, and its leaf hash. */
let entry: string;
let noted: string;

beforeAll(async () => {
  folders = await DataFolders.make();
  const log = new LmdbStorage(join(folders.paths.now, 'ledger.mdb'));
  const canonical = log.canonical(notedLeaf)!;
  entry = Buffer.from(canonical).toString('latin1');
  noted = bytesToHex(leafHash(sha256, canonical));
  await log.close();
});
afterAll(() => folders.close());

const notedLeaf = 3;

function damageFile(folder: string, file: string, damage: Damage): unknown {
  const path = pathOf(folder, file);
  const change = (edit: (bytes: Buffer) => Buffer) => writeFileSync(path, edit(readFileSync(path)));
  switch (damage) {
    case 'missing':
      return rmSync(path);
    case 'present':
      return writeFileSync(path, '{}');
    case 'empty':
      return writeFileSync(path, '');
    case 'cut':
      return change((bytes) => bytes.subarray(0, bytes.length >> 1));
    case 'zeroed':
      return change((bytes) => bytes.fill(0));
    case 'altered':
      return change(alter);
    case 'one bit':
      return change(flipOneBit);
    case 'older':
      return cpSync(pathOf(folders.paths.older, file), path);
    case 'other':
      return cpSync(pathOf(folders.paths.other, file), path);
    case 'claimed':
    case 'forged':
      if (file === 'ledger.mdb')
        for (const one of [file, 'anchor.json']) cpSync(join(folders.paths.older, one), join(folder, one));
      return claimRestore(folder, damage === 'forged');
    case 'lost':
      rmSync(path);
      return mkdirSync(path);
    case 'no head':
      return removeHeads(folder, headIn(folders.paths.older).tree_size);
    case 'stopped':
      return spendTransactions(folder, 256 * (1 + Math.floor(lastTransaction(folder) / 256)));
    case 'swapped':
      return replaceCheckpointKey(folder, 'removed');
  }
}

/** Appends a line that claims a restore of the older folder. The forged entry claims a new life of the log. */
function claimRestore(folder: string, isForged: boolean): void {
  const [head, replaced] = [folders.paths.older, folders.paths.now].map((from) =>
    readFileSync(join(from, 'anchor.json'), 'utf8').trim(),
  );
  const entry = Buffer.from('{"kind":"log.life_started"}').toString('base64');
  const line = `{"at":"${new Date().toISOString()}","event":"restored","health":"ok","head":${head},"replaced":${replaced}}`;
  const forged = line.replace(/}$/, `,"entry":"${entry}"}`);
  appendFileSync(join(folder, 'journal.ndjson'), `${isForged ? forged : line}\n`);
}

const headIn = (folder: string): { tree_size: number } => JSON.parse(readFileSync(join(folder, 'anchor.json'), 'utf8'));

/**
 * Changes the leaf hash that siem.mdb records for a logged alert, or one bit of every page of ledger.mdb.
 * LMDB follows what it finds in a damaged page of siem.mdb, so that file needs a targeted change.
 */
function alter(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  if (text.includes(noted)) return Buffer.from(text.replaceAll(noted, flipped(noted)), 'latin1');
  for (let page = 2; page * 4096 + 100 < bytes.length; page++) bytes[page * 4096 + 100]! ^= 1;
  return bytes;
}

const flipped = (hash: string): string => (hash.startsWith('0') ? '1' : '0') + hash.slice(1);

/**
 * Flips one bit of a value so that the file can still be parsed: of an entry, of its hash that siem.mdb records,
 * of the root of the last head, of a key, or of the last digit. A database may have copies of a value in unused
 * pages; each copy is changed.
 */
function flipOneBit(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const value = [entry, noted].find((one) => text.includes(one));
  if (value !== undefined) {
    const offset = 9 + value.slice(9).search(/[0-9b-e]/);
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) bytes[at + offset]! ^= 1;
    return bytes;
  }
  const start = Math.max(...['"root_hash":"', '"x":"'].map((name) => text.lastIndexOf(name)));
  const at = start < 0 ? text.search(/\d\D*$/) : start + 9 + text.slice(start + 9).search(/[0-9b-e]/);
  bytes[Math.max(at, 0)]! ^= 1;
  return bytes;
}

test.each(rows)('with the file %s %s, every party has the expected verdict: %s', async (file, damage, ...verdicts) => {
  const change = (folder: string) => damageFile(folder, file!, damage as Damage);
  const actual = await folders.verdictsOf('now', [file!], change);
  expect(actual).toEqual(verdicts.map((wanted, i) => atLeast(wanted, actual[i]!)));
});

/** Codes that end with `…` are the minimum: further codes depend on the pages that the truncation removed. */
function atLeast(wanted: string, actual: string): string {
  if (!wanted.endsWith(' …')) return wanted;
  const codes = actual.split(' ');
  return wanted
    .slice(0, -2)
    .split(' ')
    .every((code) => codes.includes(code))
    ? actual
    : wanted;
}
