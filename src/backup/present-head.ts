import { join } from 'node:path';
import type { SignedTreeHead } from '../contract/resources/transparency.ts';
import { readAnchor } from '../ledger/anchor.ts';
import { DatabaseFile } from '../ledger/check/database-file.ts';
import { Findings } from '../ledger/check/findings.ts';
import { readHeads } from '../ledger/check/heads.ts';
import { toJson, verifyHead } from '../ledger/heads.ts';
import { Journal } from '../ledger/journal.ts';
import { KeyRing } from '../ledger/keys/key-ring.ts';
import type { SignedHead } from '../ledger/storage/storage.ts';

/**
 * The largest head known of the log in a data folder, from the database, the anchor and the journal, whichever can be
 * read: what was promised at least. Only a signature by a key of this log counts; where its keys are lost, those of the
 * backup are asked. Undefined when there is none.
 */
export async function presentHead(
  dataDir: string,
  anchorPath: string,
  otherKeys: string,
): Promise<SignedTreeHead | undefined> {
  const rings = [await KeyRing.load(join(dataDir, 'keys')), await KeyRing.load(otherKeys)];
  const isSigned = (head: SignedHead) => rings.some((ring) => verifyHead(head, ring));
  const anchor = await readAnchor(anchorPath);
  const journal = await new Journal(join(dataDir, 'journal.ndjson')).read(isSigned);
  const heads = [
    lastIn(join(dataDir, 'ledger.mdb')),
    anchor.kind === 'head' ? anchor.head : undefined,
    journal.largest,
  ].filter((head) => head !== undefined);
  const [largest] = heads.filter(isSigned).sort((a, b) => b.size - a.size);
  return largest && toJson(largest);
}

/** The last head in the database that can be read. It may be damaged, which may well be why a backup is restored. */
function lastIn(path: string): SignedHead | undefined {
  let file: DatabaseFile;
  try {
    file = new DatabaseFile(path);
  } catch {
    return undefined;
  }
  try {
    const onDamage = () => undefined;
    let last: SignedHead | undefined;
    for (const head of readHeads({ file, tables: file.tables(onDamage), findings: new Findings(), onDamage }))
      last = head;
    return last;
  } finally {
    file.close();
  }
}
