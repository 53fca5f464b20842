import { canonicalSilence } from '../../alerts/silence-input.ts';
import type { silencesRoutes } from '../../contract/routes/silences.ts';
import type { Handlers } from '../context.ts';
import { pooledList } from '../list-reply.ts';
import { found } from '../preconditions.ts';
import { created, noContent, resource } from '../reply.ts';

export const silencesHandlers = {
  listSilences: (context) => pooledList(context, 'listSilences'),

  async createSilence({ services, body, identity }) {
    const { id, ...silence } = await services.store.createSilence(canonicalSilence(body), identity.principal);
    return created('silence', id, silence, `/api/v1/silences/${id}`);
  },

  getSilence({ services, params }) {
    const { silence_id: id } = params;
    return resource('silence', id, found('silence', id, services.reader.getSilence(id, Date.now())));
  },

  async updateSilence({ services, params, version, body, audited }) {
    const changed = await services.store.changeSilence(params.silence_id, canonicalSilence(body), version);
    if (changed.unchanged) audited?.noteNoChange();
    const { id, ...silence } = changed.silence;
    return resource('silence', id, silence);
  },

  async deleteSilence({ services, params, version }) {
    await services.store.removeSilence(params.silence_id, version);
    return noContent;
  },
} satisfies Handlers<typeof silencesRoutes>;
