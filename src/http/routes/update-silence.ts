import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { resource } from '../reply.ts';
import { canonicalSilence } from '../silence-input.ts';

export const updateSilence: Handler<'updateSilence'> = async ({
  services,
  params,
  headers,
  body,
  audited,
}) => {
  const version = ifMatchVersion(headers['if-match']);
  const changed = await services.store.changeSilence(params.silence_id, canonicalSilence(body), version);
  if (changed.unchanged) audited?.noteNoChange();
  const { id, ...silence } = changed.silence;
  return resource('silence', id, silence);
};
