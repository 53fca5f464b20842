import { writeList } from '../../contract/json-list.ts';
import { backupText } from '../backup-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listBackups: Handler<'listBackups'> = (context) =>
  listReply(context, async (query) => {
    const { items, ...page } = await context.services.backups.list(query);
    const texts = items.map(({ id, attributes }) => {
      return `{"id":"${id}","type":"backup","attributes":${backupText(attributes)}}`;
    });
    return { json: writeList(texts, query.form), ...page };
  });
