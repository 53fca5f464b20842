import { canonicalSilence } from '../../alerts/silence-input.ts';
import type { silencesRoutes } from '../../contract/routes/silences.ts';
import { ServiceError } from '../../errors.ts';
import type { Handlers } from '../context.ts';
import { pooledList } from '../list-reply.ts';
import { ifMatchVersion } from '../preconditions.ts';
import { created, noContent, resource } from '../reply.ts';

export const silencesHandlers = {
  listSilences: (context) => pooledList(context, 'listSilences'),

  async createSilence({ services, body, identity }) {
    const { id, ...silence } = await services.store.createSilence(canonicalSilence(body), identity.principal);
    return created('silence', id, silence, `/api/v1/silences/${id}`);
  },

  getSilence({ services, params }) {
    const silence = services.reader.getSilence(params.silence_id, Date.now());
    if (silence === undefined) throw new ServiceError('NOT_FOUND', `there is no silence ${params.silence_id}`);
    return resource('silence', params.silence_id, silence);
  },

  async updateSilence({ services, params, headers, body, audited }) {
    const version = ifMatchVersion(headers['if-match']);
    const changed = await services.store.changeSilence(params.silence_id, canonicalSilence(body), version);
    if (changed.unchanged) audited?.noteNoChange();
    const { id, ...silence } = changed.silence;
    return resource('silence', id, silence);
  },

  async deleteSilence({ services, params, headers }) {
    const version = ifMatchVersion(headers['if-match']);
    await services.store.removeSilence(params.silence_id, version);
    return noContent;
  },
} satisfies Handlers<typeof silencesRoutes>;
