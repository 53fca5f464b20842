import { limits } from '../../limits.ts';
import { backupText } from '../backup-reads.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';

export const listBackups: Handler<'listBackups'> = async ({ services, query }) => {
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  const { items, total } = await services.backups.list(number, per_page);
  const texts = items.map(({ id, attributes }) => {
    return `{"id":"${id}","type":"backup","attributes":${backupText(attributes)}}`;
  });
  return page({ json: new TextEncoder().encode(`[${texts.join(',')}]`), total, page: number }, per_page);
};
