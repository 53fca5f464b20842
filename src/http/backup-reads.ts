import type { Backup } from '../contract/resources/backup.ts';
import { writeTreeHead } from '../contract/write-tree-head.ts';

/** The attributes as JSON, the integers of the head in exact digits. */
export function backupText({ sth, ...attributes }: Backup): string {
  const text = JSON.stringify(attributes);
  return sth === undefined ? text : `${text.slice(0, -1)},"sth":${writeTreeHead(sth)}}`;
}
