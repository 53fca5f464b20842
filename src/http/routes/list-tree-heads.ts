import { writeList } from '../../contract/json-list.ts';
import { writeTreeHead } from '../../contract/write-tree-head.ts';
import { limits } from '../../limits.ts';
import type { Handler } from '../context.ts';
import { exportForm } from '../export-form.ts';
import { exportList } from '../export-list.ts';
import { logView } from '../log-view.ts';
import { page } from '../reply.ts';

/** Whole, those that there were when the first was read: they are listed oldest first. */
export const listTreeHeads: Handler<'listTreeHeads'> = async (context) => {
  const { logReader } = context.services;
  const view = await logView(context);
  const { page: number = 1, per_page = limits.defaultPerPage, ...range } = context.query;
  const form = exportForm(context.head);
  if (form !== undefined)
    return exportList<{ number: number; left: number }>(context, form, async (place) => {
      const { number, left } = place ?? { number: 1, left: undefined };
      const { heads, total } = await logReader.heads(view, {
        ...range,
        page: number,
        per_page: limits.maxPerPage,
      });
      const shown = heads.slice(0, left);
      const after = (left ?? total) - shown.length;
      const bytes = writeList(shown.map(headText), 'lines');
      return after > 0 && shown.length > 0 ? { bytes, next: { number: number + 1, left: after } } : { bytes };
    });
  const { heads, total } = await logReader.heads(view, { ...range, page: number, per_page });
  return page({ json: writeList(heads.map(headText)), total, page: number }, per_page);
};

/** Timestamps in exact digits, in the ids too. */
function headText(head: Parameters<typeof writeTreeHead>[0]): string {
  const id = `${head.tree_size}-${BigInt(head.timestamp_ns)}`;
  return `{"id":"${id}","type":"tree_head","attributes":${writeTreeHead(head)}}`;
}
