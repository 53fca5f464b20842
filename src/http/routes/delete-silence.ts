import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { noContent } from '../reply.ts';

export const deleteSilence: Handler<'deleteSilence'> = async ({ services, params, headers }) => {
  const version = ifMatchVersion(headers['if-match']);
  await services.store.removeSilence(params.silence_id, version);
  return noContent;
};
