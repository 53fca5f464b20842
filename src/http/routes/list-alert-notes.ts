import { limits } from '../../limits.ts';
import { readAlert } from '../alert-reads.ts';
import type { Handler } from '../context.ts';
import { page } from '../reply.ts';

export const listAlertNotes: Handler<'listAlertNotes'> = ({ services, params, query }) => {
  readAlert(params.alert_id, services);
  const { page: number = 1, per_page = limits.defaultPerPage } = query;
  return page(services.reader.listNotes(params.alert_id, number, per_page), per_page);
};
