import { writeList } from '../contract/json-list.ts';
import type { ListQuery } from '../store/store.ts';

interface Resource {
  readonly id: string;
  readonly type: string;
  readonly attributes: object;
}

const encoder = new TextEncoder();

/**
 * Encodes resources as the bytes of `data` in a list envelope, or as lines, in a separate buffer that can be
 * transferred.
 */
export function jsonPage(
  resources: readonly Resource[],
  { form = 'array' }: Pick<ListQuery, 'form'>,
): Uint8Array<ArrayBuffer> {
  if (form === 'array') return encoder.encode(JSON.stringify(resources));
  return writeList(
    resources.map((resource) => JSON.stringify(resource)),
    form,
  );
}
